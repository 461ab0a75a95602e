// Shows what the recognizer says; every part of the page asks only this server.
import { Picture } from './picture.js';
import { Plot } from './plot.js';
import { Tuning } from './tuning.js';

const $ = id => document.getElementById(id);
const post = async (path, body) => fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

const tuning = new Tuning(post);
const picture = new Picture($('picture'), () => tuning.values);
const plot = new Plot($('plot'), () => tuning.values);
let enabled = true;
let events;

// Named for a person: what a state of the recognizer means.
const pinchNames = { unarmed: 'not ready', open: 'open', closing: 'closing', pinched: 'pinched', opening: 'opening' };
const slideNames = { waiting: 'moving', resting: 'ready', sliding: 'sliding' };

function text(id, value) {
  const element = $(id);
  if (element.textContent !== value) element.textContent = value;
}

function ring(id, share, isOn) {
  const figure = $(id);
  figure.classList.toggle('on', isOn);
  const arc = figure.querySelector('.arc');
  if (arc) arc.style.strokeDashoffset = 100 - 100 * share;
}

function showFrame(frame) {
  picture.frame = frame;
  plot.add(frame);
  text('fps', frame.fps.toFixed(1));
  text('ms', frame.ms.toFixed(0));
  text('hands', String(frame.hands));
  text('fingers', String(frame.fingers));
  text('gap', frame.gap === undefined ? '–' : frame.gap.toFixed(2));
  text('reach', frame.reach === undefined ? '–' : frame.reach.toFixed(2));
  text('brightness', frame.brightness.toFixed(0));
  $('fill').style.width = `${frame.brightness}%`;
  $('meter').setAttribute('aria-valuenow', frame.brightness.toFixed(0));
  const isPinched = frame.pinch === 'pinched' || frame.pinch === 'opening';
  text('pinch-state', pinchNames[frame.pinch] ?? 'no hand');
  ring('pinch', frame.pinch === 'pinched' ? 1 : frame.pinch === 'opening' ? 1 - frame.dwell : frame.dwell ?? 0, isPinched);
  text('slide-state', frame.slide === 'waiting' && isPinched ? 'not now' : slideNames[frame.slide] ?? 'no hand');
  ring('slide', 0, frame.slide === 'sliding');
  text('arming-state', frame.arming === 1 ? 'act' : frame.arming > 0 ? 'hold on' : 'need a sign');
  ring('arming', frame.arming, frame.arming === 1);
}

function showStatus(status) {
  enabled = status.enabled;
  text('camera', status.camera);
  text('source', status.source ?? '');
  const trouble = !status.enabled ? undefined : status.cameraTrouble ?? status.brokerTrouble;
  const state = $('state');
  state.className = !status.enabled ? 'chip' : trouble ? 'chip bad' : 'chip good';
  state.title = trouble ?? '';
  text('state', !status.enabled ? 'paused' : status.cameraTrouble ? 'no picture' : status.brokerTrouble ? 'no broker' : 'running');
  picture.notice(!status.enabled ? 'Paused: the camera is closed.' : trouble ?? '');
  const pause = $('pause');
  pause.disabled = false;
  pause.setAttribute('aria-pressed', String(!status.enabled));
  text('pause', status.enabled ? 'Pause' : 'Go on');
  picture.turned(status.rotation);
  document.title = `HandKit ${status.camera}`;
}

function showTarget(target) {
  text('lamp', `The lamp is ${target.on ? `on at ${target.brightness} %` : 'off'}`);
  const mark = $('lamp-mark');
  mark.hidden = false;
  mark.style.left = `${target.on ? target.brightness : 0}%`;
}

function showPublished({ topic, payload, sent }) {
  const list = $('published');
  const kind = topic.split('/').pop();
  let value = {};
  try { value = JSON.parse(payload); } catch { /* shown without details */ }
  // The steps of a slide take one line.
  const first = list.firstElementChild;
  const isStep = kind === 'brightness' && value.phase !== 'began' && first?.dataset.kind === kind;
  if (first && !first.dataset.kind) first.remove();
  const line = isStep ? first : document.createElement('li');
  line.dataset.kind = kind;
  const details = kind === 'toggle' ? `${value.hand} hand, ${Math.round(value.confidence * 100)} % sure`
    : kind === 'brightness' ? `${Math.round(value.value)} %${value.phase === 'ended' ? ', done' : ''}` : payload;
  const parts = [['time', '', new Date(value.ts ?? Date.now()).toLocaleTimeString()], ['span', 'what', kind], ['span', '', details]];
  if (!sent) parts.push(['span', 'lost', 'no broker, dropped']);
  line.replaceChildren(...parts.map(([tag, name, content]) => {
    const part = document.createElement(tag);
    part.className = name;
    part.textContent = content;
    return part;
  }));
  line.title = `${topic} ${payload}`;
  if (!isStep) list.prepend(line);
  while (list.children.length > 30) list.lastElementChild.remove();
}

function listen() {
  // The recognizer tells the latest ones anew.
  $('published').replaceChildren(Object.assign(document.createElement('li'), { className: 'quiet', textContent: 'Nothing yet' }));
  events = new EventSource('events');
  const on = (name, show) => events.addEventListener(name, event => show(JSON.parse(event.data)));
  on('frame', showFrame);
  on('status', showStatus);
  on('target', showTarget);
  on('earlier', showPublished);
  on('published', message => {
    showPublished(message);
    if (message.topic.endsWith('/toggle')) plot.mark();
  });
  on('settings', values => tuning.show(values));
  events.onerror = () => {
    $('state').className = 'chip bad';
    text('state', 'no answer');
    picture.notice('The recognizer does not answer; trying again.');
    if (events.readyState === EventSource.CLOSED) setTimeout(() => { if (!document.hidden) listen(); }, 2000);
  };
}

function start() {
  listen();
  picture.start();
}

function stop() {
  events?.close();
  picture.stop();
}

$('pause').addEventListener('click', () => post('enabled', { enabled: !enabled }));
// A page that nobody looks at costs the recognizer nothing.
document.addEventListener('visibilitychange', () => { stop(); if (!document.hidden) start(); });
tuning.load();
start();
