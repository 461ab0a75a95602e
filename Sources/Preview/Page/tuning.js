// The form of the gesture settings, made from the server's description of them.

const names = { pinch: 'Pinch', slide: 'Slide', hands: 'Hands', arming: 'Arming' };

export class Tuning {
  /** What is in force, by key. */
  values = {};
  inputs = new Map();

  constructor(post) {
    this.post = post;
    this.said = document.getElementById('said');
    this.name = document.getElementById('name');
    document.getElementById('profile').addEventListener('submit', event => {
      event.preventDefault();
      this.send('profiles', { name: this.name.value }, `Saved as ${this.name.value}`);
    });
    document.getElementById('use').addEventListener('click', () => {
      if (this.name.reportValidity()) this.send('profiles/use', { name: this.name.value }, `${this.name.value} is in use`);
    });
    document.getElementById('reset').addEventListener('click', () => this.send('settings/reset', {}, 'As configured'));
  }

  async load() {
    try {
      const response = await fetch('settings');
      if (!response.ok) throw new Error(await response.text());
      const form = await response.json();
      this.build(form.fields);
      this.took(form);
    } catch {
      setTimeout(() => this.load(), 2000);
    }
  }

  build(fields) {
    const container = document.getElementById('fields');
    container.replaceChildren();
    this.inputs.clear();
    for (const group of new Set(fields.map(field => field.key.split('.')[0]))) {
      const set = document.createElement('details');
      // On a phone the picture would be far away if all of them were open.
      set.open = innerWidth >= 900;
      const summary = document.createElement('summary');
      summary.textContent = names[group] ?? group;
      set.append(summary, ...fields.filter(field => field.key.startsWith(`${group}.`)).map(field => this.field(field, group)));
      container.append(set);
    }
  }

  field(field, group) {
    const line = document.createElement('div');
    line.className = 'field';
    const label = document.createElement('label');
    const id = `field-${field.key}`;
    label.htmlFor = id;
    label.textContent = field.key.slice(group.length + 1).replace(/_ms$/, '').replaceAll(/[._]/g, ' ');
    const changed = document.createElement('span');
    changed.className = 'changed';
    label.append(changed);
    const help = document.createElement('small');
    help.textContent = field.help;
    help.id = `${id}-help`;
    const row = document.createElement('div');
    row.className = 'row';
    let set;
    if (field.kind === 'choice') {
      const select = document.createElement('select');
      select.id = id;
      select.append(...field.choices.map(choice => new Option(choice, choice)));
      select.addEventListener('change', () => this.change(field.key, select.value));
      row.append(select);
      set = value => { select.value = value; };
    } else {
      const [slider, number] = [document.createElement('input'), document.createElement('input')];
      slider.type = 'range';
      number.type = 'number';
      slider.setAttribute('aria-hidden', 'true');
      slider.tabIndex = -1;
      const step = field.kind === 'number' ? 0.01 : field.unit === 'ms' ? 10 : 1;
      for (const input of [slider, number]) {
        input.min = field.minimum;
        input.max = field.maximum;
        input.step = step;
      }
      number.step = 'any';
      // The slider covers what is sensible, the number whatever is allowed.
      slider.max = field.maximum <= 1 || field.maximum <= 4 && field.kind === 'integer' ? field.maximum
        : Math.min(field.maximum, Math.max(3 * field.start, 10 * step));
      number.id = id;
      slider.addEventListener('input', () => { number.value = slider.value; this.change(field.key, Number(slider.value)); });
      number.addEventListener('change', () => { if (number.value !== '') this.change(field.key, Number(number.value)); });
      const unit = document.createElement('span');
      unit.className = 'unit';
      unit.textContent = field.unit ?? '';
      row.append(slider, number, unit);
      set = value => { slider.value = value; if (document.activeElement !== number || Number(number.value) !== value) number.value = value; };
    }
    row.querySelector(`[id="${id}"]`).setAttribute('aria-describedby', help.id);
    line.append(label, row, help);
    this.inputs.set(field.key, {
      set: value => {
        set(value);
        changed.textContent = value === field.start ? '' : `configured: ${field.start}`;
      },
    });
    return line;
  }

  /** A slider that is dragged sends its newest value when the answer to the one before has come. */
  async change(key, value) {
    this.pending = { ...this.pending, [key]: value };
    if (this.isSending) return;
    this.isSending = true;
    while (this.pending) {
      const values = this.pending;
      this.pending = undefined;
      await this.send('settings', values, '');
    }
    this.isSending = false;
  }

  async send(path, body, done) {
    try {
      const response = await this.post(path, body);
      if (response.status === 422) {
        const { problems } = await response.json();
        this.say(problems.map(problem => `${problem.key} has to be ${problem.expected}`).join('; '), true);
        this.show(this.values);
        return;
      }
      if (!response.ok) throw new Error(await response.text());
      this.took(await response.json());
      this.say(done, false);
    } catch (error) {
      this.say(`Not done: ${error.message}`, true);
    }
  }

  took(form) {
    document.getElementById('profiles').replaceChildren(...form.profiles.map(name => new Option(name)));
    if (form.profile && !this.name.value) this.name.value = form.profile;
    this.show(form.values);
  }

  show(values) {
    this.values = values;
    for (const [key, value] of Object.entries(values)) if (this.pending?.[key] === undefined) this.inputs.get(key)?.set(value);
  }

  say(text, isWrong) {
    this.said.className = isWrong ? 'wrong' : '';
    this.said.textContent = text;
  }
}
