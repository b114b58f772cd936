/* SPDX-License-Identifier: Apache-2.0
 * app.js - the page of a released model: search, own ratings, and their list. Everything stays in this page's memory; a file
 * is written or read only when its button is pressed.
 */
'use strict';
(() => {
  const said = JSON.parse(document.getElementById('model').textContent), model = dpframe.open(said);
  const titles = said.titles || said.ids, records = new Map(), HITS = 12, STEP = 20;
  const at = (id) => document.getElementById(id);
  let shown = STEP;

  /* ---- what a record is: a mark, or a value of the declared range ---- */

  const weighs = said.formula === 'ease/1' && said.scalars.value_low < said.scalars.value_high;
  const predicts = said.formula === 'ridge/1' && Boolean(said.range);
  const range = said.range || (weighs ? [said.scalars.value_low, said.scalars.value_high] : null);
  const asks = Boolean(range) && (weighs || said.formula === 'ridge/1');

  /* Values to choose from, the highest first: whole steps, else halves, else ten steps. */
  function choices() {
    const [lo, hi] = range, whole = Number.isInteger(lo) && Number.isInteger(hi);
    const step = whole && hi - lo <= 20 ? 1 : Number.isInteger(2 * lo) && Number.isInteger(2 * hi) && hi - lo <= 10 ? 0.5 : (hi - lo) / 10;
    const n = Math.round((hi - lo) / step);
    return Array.from({ length: n + 1 }, (_, k) => Number((hi - k * step).toPrecision(6)));
  }

  const folded = (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase();
  const keys = titles.map(folded);

  /* ---- parts ---- */

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  /* The control of an item's own record; all controls of an item show the same. */
  function control(item) {
    const name = `${asks ? 'Your rating of' : 'You know and like'} ${titles[item]}`;
    let input;
    if (asks) {
      input = element('select', { 'aria-label': name }, element('option', { value: '' }, 'rate'));
      for (const value of choices()) input.append(element('option', { value: String(value) }, String(value)));
    } else {
      input = element('input', { type: 'checkbox', 'aria-label': name });
    }
    input.dataset.item = item;
    show(input);
    input.addEventListener('change', () => {
      if (asks ? input.value === '' : !input.checked) records.delete(item);
      else records.set(item, asks ? Number(input.value) : 1);
      changed();
    });
    return input;
  }

  function show(input) {
    const item = Number(input.dataset.item), value = records.get(item);
    if (!asks) {
      input.checked = value !== undefined;
      return;
    }
    const text = value === undefined ? '' : String(value);
    if (![...input.options].some((option) => option.value === text)) /* of a file */
      input.append(element('option', { value: text }, text));
    input.value = text;
  }

  const row = (item) => element('li', { class: 'row' }, element('span', {}, titles[item]), control(item));

  /* ---- search ---- */

  /* The list of somebody who has rated nothing, if that is one, says what most people look for. */
  const popular = model.list(new Map(), model.items).map(({ item }) => item);
  function hits(query) {
    const words = folded(query).split(/\s+/).filter((word) => word);
    if (!words.length) return popular.slice(0, HITS);
    const order = popular.length ? popular : [...keys.keys()];
    return order.filter((item) => words.every((word) => keys[item].includes(word)));
  }

  function search() {
    const query = at('query').value, found = hits(query);
    at('hits').replaceChildren(...found.slice(0, HITS).map(row));
    at('found').textContent = !query.trim()
      ? (found.length ? 'To begin with, what stands first for somebody who has rated nothing:' : 'Search for what you know.')
      : `${found.length === 0 ? 'Nothing' : found.length} found${found.length > HITS ? `; the first ${HITS} are shown, type more to narrow it down` : ''}.`;
  }

  /* ---- the list ---- */

  function number(score) {
    return Math.min(Math.max(score, range[0]), range[1]).toFixed(1);
  }

  function why(item) {
    const most = model.adds(records, item).filter(({ adds }) => adds > 0).slice(0, 3);
    return most.length
      ? `Most of it comes from ${most.map((one) => titles[one.item]).join('; ')}.`
      : 'None of your records raises it: it stands here for everybody.';
  }

  function entry({ item, score }) {
    const line = element('div', { class: 'row' }, element('span', {}, titles[item]));
    if (predicts) line.append(element('span', { class: 'score', title: 'the rating that the model expects of you' }, number(score)));
    line.append(control(item));
    const made = element('li', {}, line);
    if (records.size) {
      const details = element('details', {}, element('summary', { 'aria-label': `Why ${titles[item]}` }, 'Why?'));
      details.addEventListener('toggle', () => {
        if (details.open && details.children.length === 1) details.append(element('p', { class: 'note' }, why(item)));
      });
      made.append(details);
    }
    return made;
  }

  function list() {
    const best = model.list(records, shown + 1);
    at('best').replaceChildren(...best.slice(0, shown).map(entry));
    at('more').hidden = best.length <= shown;
    const own = `${records.size} ${asks ? 'rating' : 'item'}${records.size === 1 ? '' : 's'} of yours`;
    at('status').textContent = best.length === 0
      ? 'The model scores all items alike for you: rate something that it knows more of.'
      : records.size ? `From ${own}.` : 'You have rated nothing yet: this is the list of everybody like that.';
  }

  function mine() {
    const own = [...records.keys()].sort((a, b) => keys[a].localeCompare(keys[b]));
    at('mine').replaceChildren(...own.map(row));
    at('count').textContent = records.size ? `(${records.size})` : '';
    at('none').hidden = records.size > 0;
    at('save').disabled = at('forget').disabled = records.size === 0;
  }

  /* Rows are made anew, so a control that had the focus gives it to the one of the same item, or to the next. */
  function changed() {
    const focused = document.activeElement, item = focused && focused.dataset ? focused.dataset.item : undefined;
    const inside = focused && focused.closest ? focused.closest('#mine, #best') : null;
    const place = inside ? [...inside.querySelectorAll('[data-item]')].indexOf(focused) : -1;
    for (const input of at('hits').querySelectorAll('[data-item]')) show(input);
    mine();
    list();
    if (!inside || item === undefined) return;
    const controls = [...inside.querySelectorAll('[data-item]')];
    const next = controls.find((input) => input.dataset.item === item) || controls[Math.min(place, controls.length - 1)];
    (next || at('query')).focus();
  }

  /* ---- own records as a file, by a button ---- */

  function save() {
    const content = {};
    for (const [item, value] of records) content[said.ids[item]] = value;
    const link = element('a', {
      href: URL.createObjectURL(new Blob([JSON.stringify(content, null, 1)], { type: 'application/json' })),
      download: 'my-ratings.json',
    });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  async function load(file) {
    const places = new Map(said.ids.map((id, i) => [id, i]));
    let unknown = 0;
    try {
      for (const [id, value] of Object.entries(JSON.parse(await file.text()))) {
        const good = Number.isFinite(value) && (!asks || (value >= range[0] && value <= range[1]));
        if (places.has(id) && good) records.set(places.get(id), value);
        else unknown++;
      }
      at('file-status').textContent = unknown ? `${unknown} entries of the file are not of this model: left out.` : '';
    } catch (error) {
      at('file-status').textContent = 'This is not a file of ratings that this page has saved.';
    }
    changed();
  }

  at('query').addEventListener('input', search);
  at('more').addEventListener('click', () => {
    const first = shown;
    shown += STEP;
    list();
    const entry = at('best').children[first];
    if (entry) entry.querySelector('[data-item]').focus();
  });
  at('forget').addEventListener('click', () => {
    records.clear();
    changed();
    at('query').focus();
  });
  at('save').addEventListener('click', save);
  at('open').addEventListener('change', (event) => {
    if (event.target.files.length) load(event.target.files[0]);
    event.target.value = '';
  });
  for (const part of document.querySelectorAll('[data-needs-script]')) part.hidden = false;
  search();
  mine();
  list();
})();
