// Shows the state of the service and asks for it again every second. Only text and pictures of the service itself.
const STATES = ['Queuing', 'Preparing', 'Running', 'Success', 'Failed', 'Canceled'];
const REFRESH_MS = 1000;

/** An element with a class and children; texts are set as text, never as HTML. */
function element(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

function picture(source) {
  const image = element('img');
  image.src = source;
  image.alt = 'result';
  image.loading = 'lazy';
  // A result that is no picture has nothing to show.
  image.addEventListener('error', () => image.replaceWith(element('span', 'file', 'file')));
  const link = element('a', 'picture', image);
  link.href = source;
  return link;
}

function duration(ms) {
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

function place(task) {
  if (task.countAhead === undefined) return undefined;
  return task.countAhead < 0 ? 'held' : `${task.countAhead} ahead`;
}

function taskCard(task) {
  const facts = [task.createdAt, duration(task.elapsedMs), place(task)].filter(Boolean).join(' · ');
  const callbacks = task.callbacks.length > 0 ? `callback: ${task.callbacks.join(', ')}` : undefined;
  return element(
    'li',
    'task',
    element('span', `state ${task.status.toLowerCase()}`, task.status),
    element('strong', '', task.app),
    element('span', 'facts', facts),
    element('code', '', task.requestId),
    task.error && element('span', 'error', task.error),
    callbacks && element('span', 'facts', callbacks),
    element('div', 'pictures', ...task.pictures.map(picture)),
  );
}

function appCard(app) {
  return element(
    'li',
    'app',
    element('strong', '', `${app.webAppId}  ${app.name}`),
    element('span', '', app.description),
    element('span', 'facts', app.nodes.join(' → ')),
    element('code', '', app.inputs.join('\n')),
  );
}

/** Replaces only the cards that changed, so that pictures neither flicker nor load twice. */
function update(list, items, keyOf, card) {
  const present = new Map([...list.children].map((node) => [node.dataset.key, node]));
  const nodes = items.map((item) => {
    const text = JSON.stringify(item);
    const old = present.get(keyOf(item));
    if (old?.dataset.text === text) return old;
    const node = card(item);
    node.dataset.key = keyOf(item);
    node.dataset.text = text;
    return node;
  });
  list.replaceChildren(...nodes);
}

function show(state) {
  const counts = STATES.map((name) => `${state.counts[name]} ${name}`).join(' · ');
  const { create, detail, outputs } = state.requests;
  document.getElementById('summary').textContent =
    `${counts}. ${state.slots} slots. Asked so far: ${create} create, ${detail} detail, ${outputs} outputs.`;
  document.getElementById('no-tasks').hidden = state.tasks.length > 0;
  update(document.getElementById('tasks'), state.tasks, (task) => task.requestId, taskCard);
  update(document.getElementById('apps'), state.apps, (app) => String(app.webAppId), appCard);
}

async function refresh() {
  try {
    const answer = await fetch('/page/state');
    show(await answer.json());
  } catch {
    document.getElementById('summary').textContent = 'The service does not answer.';
  }
  setTimeout(refresh, REFRESH_MS);
}

await refresh();
