// The gap of thumb and index finger and the reach of the index finger over the last seconds.

const span = 8;
const top = 1.3;

export class Plot {
  samples = [];
  marks = [];
  isAsked = false;

  constructor(canvas, settings) {
    this.canvas = canvas;
    this.settings = settings;
    new ResizeObserver(() => this.ask()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.ask());
  }

  add({ t, gap, reach }) {
    const last = this.samples.at(-1);
    // A clip that begins anew, or another source.
    if (last && t < last.t) [this.samples, this.marks] = [[], []];
    this.samples.push({ t, gap, reach });
    while (this.samples[0].t < t - span) this.samples.shift();
    while (this.marks[0] < t - span) this.marks.shift();
    this.ask();
  }

  /** A toggle happened. */
  mark() {
    const last = this.samples.at(-1);
    if (last) this.marks.push(last.t);
  }

  ask() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => { this.isAsked = false; this.draw(); });
  }

  draw() {
    const { canvas } = this;
    const context = canvas.getContext('2d');
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const ratio = devicePixelRatio;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const color = name => style.getPropertyValue(`--${name}`);
    const y = value => height - 4 - Math.min(value, top) / top * (height - 8);
    const now = this.samples.at(-1)?.t ?? 0;
    const x = time => width - (now - time) / span * width;
    const { 'pinch.close': close, 'pinch.open': open, 'pinch.reach': reach } = this.settings();
    context.font = '12px system-ui, sans-serif';
    if (close !== undefined) {
      context.fillStyle = color('gap');
      context.globalAlpha = 0.1;
      context.fillRect(0, y(close), width, y(0) - y(close));
      context.globalAlpha = 1;
      this.line(context, y(close), width, color('gap'), `pinched below ${close}`, 14);
      this.line(context, y(open), width, color('gap'), `open above ${open}`, 14);
      this.line(context, y(reach), width, color('reach'), `reach at least ${reach}`, -4, true);
    }
    context.lineWidth = 2;
    context.lineJoin = 'round';
    for (const key of ['reach', 'gap']) {
      context.strokeStyle = color(key);
      context.beginPath();
      let isDown = false;
      for (const sample of this.samples) {
        if (sample[key] === undefined) { isDown = false; continue; }
        if (isDown) context.lineTo(x(sample.t), y(sample[key])); else context.moveTo(x(sample.t), y(sample[key]));
        isDown = true;
      }
      context.stroke();
    }
    context.strokeStyle = color('lamp');
    for (const mark of this.marks) {
      context.beginPath();
      context.moveTo(x(mark), 4);
      context.lineTo(x(mark), height - 4);
      context.stroke();
    }
  }

  line(context, y, width, color, label, shift, isRight = false) {
    context.strokeStyle = context.fillStyle = color;
    context.lineWidth = 1;
    context.setLineDash([4, 4]);
    context.beginPath();
    context.moveTo(0, Math.round(y) + 0.5);
    context.lineTo(width, Math.round(y) + 0.5);
    context.stroke();
    context.setLineDash([]);
    context.textAlign = isRight ? 'right' : 'left';
    // Whatever runs behind it, the label stays readable.
    context.lineWidth = 4;
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--card');
    context.strokeText(label, isRight ? width - 4 : 4, y + shift);
    context.fillText(label, isRight ? width - 4 : 4, y + shift);
  }
}
