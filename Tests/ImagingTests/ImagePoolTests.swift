import Imaging
import Testing

private func address(_ image: ImageBuffer) -> UInt { image.withBytes { UInt(bitPattern: $0.baseAddress) } }

private struct Refusal: Error {}

struct ImagePoolTests {
    private let layout = ImageLayout(width: 64, height: 48, format: .rgb24)

    @Test func `memory comes back and is used again, however many frames there are`() {
        let pool = ImagePool(capacity: 4)
        var addresses: Set<UInt> = []
        for number in 0..<1000 {
            let image = pool.image(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: UInt8(number & 0xff)) }
            addresses.insert(address(image))
            #expect(image.withBytes { $0[0] == UInt8(number & 0xff) && $0[layout.byteCount - 1] == UInt8(number & 0xff) })
        }
        #expect(addresses.count == 1)
    }

    @Test func `pictures that live at the same time share nothing`() {
        let pool = ImagePool()
        var held: [ImageBuffer] = []
        for number in 0..<8 { held.append(pool.image(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: UInt8(number)) }) }
        #expect(Set(held.map(address)).count == 8)
        #expect(held.enumerated().allSatisfy { number, image in image.withBytes { $0.allSatisfy { $0 == UInt8(number) } } })
    }

    @Test func `three frames in flight settle on three places`() {
        let pool = ImagePool(capacity: 4)
        var held: [ImageBuffer] = []
        var addresses: Set<UInt> = []
        for _ in 0..<300 {
            let image = pool.image(layout: layout) { _ in }
            addresses.insert(address(image))
            held.append(image)
            if held.count > 2 { held.removeFirst() }
        }
        #expect(addresses.count == 3)
    }

    @Test func `a picture that could not be filled gives its memory back`() throws {
        let pool = ImagePool()
        var failed: UInt = 0
        #expect(throws: Refusal.self) {
            try pool.image(layout: layout) { memory in
                failed = UInt(bitPattern: memory.baseAddress)
                throw Refusal()
            }
        }
        #expect(address(pool.image(layout: layout) { _ in }) == failed)
    }

    @Test func `pictures that come back settle on as many objects as are in flight`() {
        let pool = ImagePool(capacity: 4)
        var held: [ImageBuffer] = []
        var objects: Set<ObjectIdentifier> = []
        for _ in 0..<300 {
            held.append(pool.image(layout: layout) { _ in })
            objects.formUnion(held.map(ObjectIdentifier.init))
            if held.count > 2 { held.removeFirst() }
        }
        #expect(objects.count == 3)
    }

    @Test func `a picture that another thread still reads is not written`() async {
        let pool = ImagePool(capacity: 3)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<2000 {
                let level = UInt8(number & 0xff)
                let image = pool.image(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: level) }
                group.addTask { image.withBytes { $0.allSatisfy { $0 == level } } }
            }
            for await isWhole in group { #expect(isWhole) }
        }
    }

    @Test func `another size gets memory of its own length`() {
        let pool = ImagePool()
        for side in [4, 64, 8, 64, 4] {
            let layout = ImageLayout(width: side, height: side, format: .gray)
            let image = pool.image(layout: layout) { memory in
                #expect(memory.count == side * side)
                memory.initializeMemory(as: UInt8.self, repeating: UInt8(side))
            }
            #expect(image.withBytes { $0.count == side * side && $0.allSatisfy { $0 == UInt8(side) } })
        }
    }

    @Test func `a picture outlives its pool`() {
        var pool: ImagePool? = ImagePool()
        let image = pool?.image(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: 7) }
        pool = nil
        #expect(image?.withBytes { $0.allSatisfy { $0 == 7 } } == true)
    }
}
