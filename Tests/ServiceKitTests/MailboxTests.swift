import ServiceKit
import Synchronization
import TestSupport
import Testing

struct MailboxTests {
    @Test func `the newest value wins and the replaced ones are counted`() async {
        let mailbox = Mailbox<Int>()
        #expect(mailbox.put(1) == false)
        #expect(mailbox.put(2) == true)
        #expect(mailbox.put(3) == true)
        #expect(await mailbox.take() == 3)
        #expect(mailbox.replacedCount == 2)
        #expect(mailbox.put(4) == false)
        #expect(await mailbox.take() == 4)
        #expect(mailbox.replacedCount == 2)
    }

    @Test func `a waiting consumer gets the value that comes`() async {
        let mailbox = Mailbox<String>()
        async let taken = mailbox.take()
        mailbox.put("frame")
        #expect(await taken == "frame")
        #expect(mailbox.replacedCount == 0)
    }

    @Test func `what was put before the end is still taken, then nothing`() async {
        let mailbox = Mailbox<Int>()
        mailbox.put(1)
        mailbox.finish()
        #expect(mailbox.put(2) == true)
        #expect(await mailbox.take() == 1)
        #expect(await mailbox.take() == nil)
        #expect(mailbox.replacedCount == 1)
    }

    @Test func `cancelling the consumer ends its wait and leaves the mailbox usable`() async {
        let mailbox = Mailbox<Int>()
        let consumer = Task { await mailbox.take() }
        consumer.cancel()
        #expect(await consumer.value == nil)
        mailbox.put(5)
        #expect(await mailbox.take() == 5)
    }

    @Test func `every value put by many threads is taken or counted`() async {
        let mailbox = Mailbox<Int>()
        let taken = Task {
            var count = 0
            while await mailbox.take() != nil { count += 1 }
            return count
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for value in 0..<2500 { mailbox.put(value) } }
            }
        }
        mailbox.finish()
        #expect(await taken.value + mailbox.replacedCount == 10_000)
    }
}
