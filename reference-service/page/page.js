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

/** The number is what a create gives as `web_app_id`. */
function appTitle(webAppId, name) {
  return `App ${webAppId}: ${name}`;
}

function taskCard(task) {
  const facts = [`${task.createdAt} UTC+8`, duration(task.elapsedMs), place(task)].filter(Boolean).join(' · ');
  const callbacks = task.callbacks.length > 0 ? `callback: ${task.callbacks.join(', ')}` : undefined;
  return element(
    'li',
    'task',
    element('span', `state ${task.status.toLowerCase()}`, task.status),
    element('strong', '', appTitle(task.webAppId, task.app)),
    element('span', 'facts', facts),
    element('code', '', task.requestId),
    task.error && element('span', 'error', task.error),
    callbacks && element('span', 'facts', callbacks),
    element('div', 'pictures', ...task.pictures.map(picture)),
  );
}

/** A create with every input at its default; of an upload, the place for its id. */
function createCommand({ webAppId, inputs }) {
  const values = Object.fromEntries(inputs.map(({ key, byDefault }) => [key, byDefault ?? 'ID OF AN UPLOAD']));
  const body = JSON.stringify({ web_app_id: webAppId, input_values: values }, undefined, 2);
  return [
    `curl -s ${location.origin}/w/v1/webapp/task/openapi/create \\`,
    `  -H "Authorization: Bearer $LONGHAUL_API_KEY" -H 'Content-Type: application/json' \\`,
    `  -H 'X-Svc-Task-Async: enable' -d '${body.replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n');
}

/** A button that puts a text on the clipboard, or selects it where the browser does not allow that. */
function copyButton(shown, what) {
  const button = element('button', '', 'Copy');
  button.type = 'button';
  button.setAttribute('aria-label', `Copy ${what}`);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(shown.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(shown);
      button.textContent = 'Selected: press Ctrl-C';
    }
  });
  return button;
}

function inputRow({ key, byDefault, limits }) {
  const shown = byDefault === null ? 'required' : byDefault === '' ? 'empty' : String(byDefault);
  return element(
    'tr',
    '',
    element('td', '', element('code', '', key)),
    element('td', '', shown),
    element('td', '', limits),
  );
}

function inputTable(inputs) {
  const head = element('tr', '', ...['Input', 'Default', 'May be'].map((text) => element('th', '', text)));
  return element('table', '', element('thead', '', head), element('tbody', '', ...inputs.map(inputRow)));
}

function appCard(app) {
  const command = element('pre', '', createCommand(app));
  return element(
    'li',
    'app',
    element('strong', '', appTitle(app.webAppId, app.name)),
    element('span', '', app.description),
    element('span', 'facts', app.nodes.join(' → ')),
    inputTable(app.inputs),
    command,
    copyButton(command, `a create of ${app.name}`),
  );
}

function uploadCard({ id, name }) {
  return element('li', 'upload', element('strong', '', name), element('span', 'facts', `id ${id}`));
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
  document.getElementById('no-uploads').hidden = state.uploads.length > 0;
  update(document.getElementById('uploads'), state.uploads, (upload) => String(upload.id), uploadCard);
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
