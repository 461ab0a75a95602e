// The picture stream, and the points of each hand over it.

const bones = [
  ['thumb', [0, 1, 2, 3, 4]], ['index', [0, 5, 6, 7, 8]], ['palm', [5, 9, 13, 17, 0]],
  ['other', [9, 10, 11, 12]], ['other', [13, 14, 15, 16]], ['other', [17, 18, 19, 20]],
];
const colors = { thumb: '#00d5ff', index: '#ff2d95', palm: '#ffffff', other: '#ffffff' };
const tips = { 4: '#00e5ff', 8: '#ff4fa6' };

export class Picture {
  /** The latest numbers, for the ring at the finger tips. */
  frame;

  constructor(canvas, settings) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.settings = settings;
    this.rotation = 0;
    this.ownRotation = Number(localStorage.getItem('rotation')) || 0;
    const mirror = document.getElementById('mirror');
    const points = document.getElementById('points');
    mirror.checked = localStorage.getItem('mirror') === 'true';
    mirror.addEventListener('change', () => { localStorage.setItem('mirror', mirror.checked); this.draw(); });
    points.addEventListener('change', () => this.draw());
    document.getElementById('rotate').addEventListener('click', () => {
      this.ownRotation = (this.ownRotation + 90) % 360;
      localStorage.setItem('rotation', this.ownRotation);
      this.draw();
    });
    this.isMirrored = () => mirror.checked;
    this.showsPoints = () => points.checked;
  }

  notice(text) {
    const notice = document.getElementById('notice');
    notice.hidden = !text;
    notice.textContent = text;
  }

  turned(rotation) {
    this.rotation = rotation;
    this.draw();
  }

  async start() {
    this.abort = new AbortController();
    const { signal } = this.abort;
    while (!signal.aborted) {
      try {
        const response = await fetch('stream.mjpg', { signal });
        if (response.ok) await this.read(response.body.getReader(), signal);
      } catch (error) {
        if (signal.aborted) return;
      }
      await new Promise(resolve => setTimeout(resolve, 1500));
    }
  }

  stop() { this.abort?.abort(); }

  /** Takes the parts of the stream apart: a head of lines, an empty line, as many bytes as the head says. */
  async read(reader, signal) {
    let bytes = new Uint8Array(0);
    while (!signal.aborted) {
      const { value, done } = await reader.read();
      if (done) return;
      const joined = new Uint8Array(bytes.length + value.length);
      joined.set(bytes);
      joined.set(value, bytes.length);
      bytes = joined;
      for (;;) {
        const end = headEnd(bytes);
        if (end < 0) break;
        const head = new TextDecoder().decode(bytes.subarray(0, end));
        const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1]);
        const overlay = /^x-overlay: *(.*)$/im.exec(head)?.[1];
        if (bytes.length < end + 4 + length) break;
        const jpeg = bytes.slice(end + 4, end + 4 + length);
        bytes = bytes.slice(end + 4 + length);
        await this.show(jpeg, overlay ? JSON.parse(overlay) : { t: 0, hands: [] });
      }
    }
  }

  async show(jpeg, overlay) {
    const image = await createImageBitmap(new Blob([jpeg], { type: 'image/jpeg' }));
    this.image?.close();
    this.image = image;
    this.overlay = overlay;
    this.draw();
  }

  /** Where a point of the picture, 0 to 1, is on the canvas. */
  place([x, y]) {
    let [u, v] = { 0: [x, y], 90: [1 - y, x], 180: [1 - x, 1 - y], 270: [y, 1 - x] }[this.turn];
    if (this.isMirrored()) u = 1 - u;
    return [u * this.canvas.width, v * this.canvas.height];
  }

  draw() {
    const { canvas, context, image } = this;
    if (!image) return;
    this.turn = (this.rotation + this.ownRotation) % 360;
    const isLying = this.turn % 180 !== 0;
    const [width, height] = isLying ? [image.height, image.width] : [image.width, image.height];
    // As fine as the screen shows it, so that the lines stay sharp on a small picture.
    const scale = Math.min(Math.max(canvas.clientWidth * devicePixelRatio / width, 1), 3);
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    context.save();
    context.translate(w / 2, h / 2);
    if (this.isMirrored()) context.scale(-1, 1);
    context.rotate(this.turn * Math.PI / 180);
    const [iw, ih] = isLying ? [h, w] : [w, h];
    context.drawImage(image, -iw / 2, -ih / 2, iw, ih);
    context.restore();
    canvas.dataset.time = this.overlay.t;
    if (this.showsPoints()) {
      this.drawZone();
      for (const hand of this.overlay.hands) this.drawHand(hand);
    }
  }

  drawZone() {
    const zone = this.settings();
    const edges = ['left', 'top', 'right', 'bottom'].map(edge => zone[`hands.zone.${edge}`]);
    if (edges.some(edge => edge === undefined) || edges.join() === '0,0,1,1') return;
    const [a, b] = [this.place(edges.slice(0, 2)), this.place(edges.slice(2))];
    this.context.setLineDash([8, 6]);
    this.context.strokeStyle = '#fffc';
    this.context.lineWidth = 2;
    this.context.strokeRect(Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1]));
    this.context.setLineDash([]);
  }

  drawHand(hand) {
    const { context } = this;
    const points = hand.points.map(point => this.place(point));
    const size = Math.max(Math.hypot(points[9][0] - points[0][0], points[9][1] - points[0][1]), 20);
    context.globalAlpha = hand.acts ? 1 : 0.5;
    context.lineCap = context.lineJoin = 'round';
    // A dark line below the bright one, so that both light and dark pictures show it.
    for (const [under, width] of [[true, size / 14], [false, size / 28]]) {
      for (const [finger, chain] of bones) {
        context.strokeStyle = under ? '#0009' : colors[finger];
        context.lineWidth = Math.max(width, under ? 4 : 2);
        context.beginPath();
        for (const index of chain) context.lineTo(...points[index]);
        if (finger === 'palm') context.closePath();
        context.stroke();
      }
    }
    points.forEach((point, index) => {
      context.beginPath();
      context.arc(...point, Math.max(tips[index] ? size / 14 : size / 26, 2.5), 0, 2 * Math.PI);
      context.fillStyle = tips[index] ?? '#fff';
      context.fill();
    });
    context.globalAlpha = 1;
    if (hand.acts) this.drawRing(points[4], points[8], size);
  }

  /** How far a pinch is on its way, at the finger tips. */
  drawRing(thumb, index, size) {
    const { context, frame } = this;
    if (!['closing', 'pinched', 'opening'].includes(frame?.pinch)) return;
    const share = frame.pinch === 'closing' ? frame.dwell : frame.pinch === 'opening' ? 1 - frame.dwell : 1;
    context.beginPath();
    context.arc((thumb[0] + index[0]) / 2, (thumb[1] + index[1]) / 2, size / 3, -Math.PI / 2, -Math.PI / 2 + share * 2 * Math.PI);
    context.strokeStyle = '#ffb020';
    context.lineWidth = Math.max(size / 14, 4);
    context.stroke();
  }
}

function headEnd(bytes) {
  for (let index = 0; index + 3 < bytes.length && index < 65536; index++) {
    if (bytes[index] === 13 && bytes[index + 1] === 10 && bytes[index + 2] === 13 && bytes[index + 3] === 10) return index;
  }
  return -1;
}
