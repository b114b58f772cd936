/* SPDX-License-Identifier: Apache-2.0
 * score.js - scores of a released model on the side of the person whom they are for: the formulas of docs/model-state.md and
 * the terms of framework/score/home_terms.h. Nothing here touches the page, the network or any store.
 *
 * dpframe.open(model) -> { items, scores(records), list(records, k), adds(records, item) }
 * model: what "dpframe page" has written; records: a Map from the number of an item to the value of the own record.
 */
'use strict';
const dpframe = (() => {
  const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u2: Uint16Array };

  function decode(array) {
    const text = atob(array.data), bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
    return new KINDS[array.type](bytes.buffer);
  }

  /* { name: numbers }; columns of arrays that have some are in `columns`. */
  function decodeAll(arrays, columns) {
    const out = {};
    for (const name of Object.keys(arrays)) {
      out[name] = decode(arrays[name]);
      columns[name] = arrays[name].columns;
    }
    return out;
  }

  function deviation(x) {
    let mean = 0, squares = 0;
    for (let i = 0; i < x.length; i++) mean += x[i] / x.length;
    for (let i = 0; i < x.length; i++) squares += (x[i] - mean) * (x[i] - mean) / x.length;
    return Math.sqrt(squares);
  }

  /* ---- base/1 ---- */

  const base = (model) => ({ scores: () => Float64Array.from(model.arrays.base) });

  /* ---- ridge/1 ---- */

  /* a x = b for the lower triangle of a positive definite matrix, which becomes its Cholesky factor. */
  function solve(a, d, x) {
    for (let i = 0; i < d; i++) {
      for (let j = 0; j <= i; j++) {
        let sum = a[i * d + j];
        for (let k = 0; k < j; k++) sum -= a[i * d + k] * a[j * d + k];
        a[i * d + j] = i === j ? Math.sqrt(sum) : sum / a[j * d + j];
      }
      for (let k = 0; k < i; k++) x[i] -= a[i * d + k] * x[k];
      x[i] /= a[i * d + i];
    }
    for (let i = d - 1; i >= 0; i--) {
      for (let k = i + 1; k < d; k++) x[i] -= a[k * d + i] * x[k];
      x[i] /= a[i * d + i];
    }
  }

  function ridge(model) {
    const { bias, loadings, variance } = model.arrays, s = model.scalars, d = model.columns.loadings;
    const spread = (item) => s.residual_variance + (variance ? variance[item] : 0);
    const residual = (item, value) => (value - s.centre) / s.unit - bias[item];

    function fit(own) {
      const a = new Float64Array(d * d), t = new Float64Array(d);
      for (const [item, value] of own) {
        const w = 1 / spread(item), e = w * residual(item, value), q = loadings.subarray(item * d, (item + 1) * d);
        for (let r = 0; r < d; r++) {
          t[r] += e * q[r];
          for (let c = 0; c <= r; c++) a[r * d + c] += w * q[r] * q[c];
        }
      }
      for (let r = 0; r < d; r++) a[r * d + r] += 1;
      solve(a, d, t);
      return { factor: a, t };
    }

    /* Of each record, from a fit to the others: its leverage is |L^-1 q|^2 w. */
    function leftOut(own, { factor, t }) {
      const x = new Float64Array(d);
      return own.map(([item, value]) => {
        let e = residual(item, value), squares = 0;
        for (let r = 0; r < d; r++) {
          e -= loadings[item * d + r] * t[r];
          x[r] = loadings[item * d + r];
          for (let c = 0; c < r; c++) x[r] -= factor[r * d + c] * x[c];
          x[r] /= factor[r * d + r];
          squares += x[r] * x[r];
        }
        return e / Math.max(1 - squares / spread(item), 1e-6);
      });
    }

    function scores(own, home, from, to) {
      const fitted = fit(own), out = new Float64Array(model.items);
      const more = home ? home.values(own.map(([item]) => item), leftOut(own, fitted), bias, from, to) : null;
      for (let i = from; i < to; i++) {
        let sum = bias[i];
        for (let r = 0; r < d; r++) sum += loadings[i * d + r] * fitted.t[r];
        out[i] = s.centre + s.unit * (sum + (more ? more[i] : 0));
      }
      return out;
    }
    return { scores };
  }

  /* ---- ease/1 ---- */

  function ease(model) {
    const { column, popularity, undo, weight, span } = model.arrays, s = model.scalars, n = model.items;
    const into = model.arrays.in, out = model.arrays.out;
    const m = weight.length, r = out.length / m, d = span.length / n;
    const skips = model.columns.in === d && r === m ? r : 0; /* factors are the columns themselves */
    const width = r + d - skips;

    function valueWeight(value) {
      if (!(s.value_low < s.value_high)) return 1;
      const part = Math.min(Math.max((value - s.value_low) / (s.value_high - s.value_low), 0), 1);
      return s.lowest_weight + (1 - s.lowest_weight) * part;
    }

    function scores(own) {
      const known = own.filter(([item]) => column[item] >= 0);
      const z = known.map(([item, value]) => weight[column[item]] * valueWeight(value));
      const norm = Math.sqrt(z.reduce((sum, x) => sum + x * x, 0));
      if (!(norm > 0)) return Float64Array.from(popularity);
      const a = new Float64Array(r + d), result = new Float64Array(n);
      known.forEach(([item], k) => {
        z[k] /= norm;
        if (skips) a[column[item]] += z[k];
        for (let c = 0; c < width; c++) a[skips + c] += z[k] * into[column[item] * width + c];
      });
      for (let i = 0; i < n; i++) {
        const j = column[i];
        let sum = 0;
        for (let k = 0; k < r && j >= 0; k++) sum += a[k] * out[k * m + j];
        for (let k = 0; k < d && j < 0; k++) sum += a[r + k] * span[k * n + i];
        result[i] = undo[i] * sum;
      }
      known.forEach(([item], k) => { /* an item does not predict itself */
        const j = column[item];
        let sum = skips ? out[j * m + j] : 0;
        for (let c = 0; c < r - skips; c++) sum += into[j * width + c] * out[c * m + j];
        result[item] -= z[k] * sum * undo[item];
      });
      return result;
    }
    return { scores };
  }

  /* ---- neighbours/1 ---- */

  function neighbours(model) {
    const of = model.arrays.neighbours, similarities = model.arrays.similarities, slots = model.columns.neighbours;
    function scores(own) {
      const has = new Uint8Array(model.items + 1), out = new Float64Array(model.items);
      for (const [item] of own) has[item] = 1;
      for (let i = 0; i < out.length; i++)
        for (let k = i * slots; k < (i + 1) * slots; k++) /* an empty slot is -1, or 65535 of 16 bits: no item */
          if (of[k] >= 0 && of[k] < model.items && has[of[k]]) out[i] += similarities[k];
      return out;
    }
    return { scores };
  }

  /* ---- terms that are made at home ---- */

  function homeTerms(said, items) {
    const columns = {}, h = decodeAll(said.arrays, columns), n = h.row_ptr.length - 1, rows = new Map();

    /* How alike two classes are: shared categories over the norms of both, and a Gaussian of their numbers. */
    function alike(a, b) {
      let shared = 0, na = 0, nb = 0, far = 0, i = h.row_ptr[a], j = h.row_ptr[b];
      for (let k = i; k < h.row_ptr[a + 1]; k++) na += h.deviation[h.row_at[k]] === 0;
      for (let k = j; k < h.row_ptr[b + 1]; k++) nb += h.deviation[h.row_at[k]] === 0;
      while (i < h.row_ptr[a + 1] && j < h.row_ptr[b + 1]) {
        const x = h.row_at[i], y = h.row_at[j];
        if (x !== y) {
          if (x < y) i++; else j++;
          continue;
        }
        if (h.deviation[x] === 0) shared++;
        else far += ((h.row_value[i] - h.row_value[j]) / (0.24 * h.deviation[x])) ** 2;
        i++;
        j++;
      }
      if (!said.categories) return Math.exp(-far);
      return na * nb > 0 ? shared * shared / (na * nb) * Math.exp(-far) : 0;
    }

    function classRow(a) {
      if (!rows.has(a)) rows.set(a, Float32Array.from({ length: n }, (_, b) => alike(a, b)));
      return rows.get(a);
    }

    /* How far the 10 largest scores of items without a record are above the mean of all. */
    function heightOfBest(own, scores) {
      const has = new Set(own), mean = scores.reduce((sum, x) => sum + x / items, 0);
      const best = scores.filter((_, i) => !has.has(i)).sort().slice(-10);
      return best.length > 0 ? Math.max(best.reduce((sum, x) => sum + x - mean, 0) / best.length, 0) : 0;
    }

    function lists(own, same, scores) {
      const sums = new Float64Array(n), content = new Float64Array(items);
      const scale = same ? deviation(scores) : heightOfBest(own, scores) / 6;
      for (const item of own) {
        const row = classRow(h.class_of[item]);
        for (let b = 0; b < n; b++) sums[b] += row[b];
      }
      for (let i = 0; i < items; i++) content[i] = sums[h.class_of[i]] / h.expected[i];
      for (const item of own) content[item] -= classRow(h.class_of[item])[h.class_of[item]] / h.expected[item];
      const spread = Math.max(deviation(content), 1e-9);
      for (let i = 0; i < items; i++) scores[i] += scale * content[i] / spread * h.root[i];
      const ofWords = scale * 0.6 * Math.sqrt(100 / Math.max(own.length, 10));
      for (const item of own)
        for (let k = h.near_ptr[item]; k < h.near_ptr[item + 1]; k++) scores[h.near_item[k]] += ofWords * h.near_value[k];
    }

    function values(own, residuals, bias, from, to) {
      const sum = new Float64Array(items), all = new Float64Array(items).fill(2.5), near = new Float64Array(items);
      own.forEach((item, k) => {
        const row = classRow(h.class_of[item]), e = Math.min(Math.max(residuals[k], -2), 2);
        for (let s = h.near_ptr[item]; s < h.near_ptr[item + 1]; s++) near[h.near_item[s]] = h.near_value[s];
        for (let i = from; i < to; i++) {
          const content = row[h.class_of[i]], off = (bias[i] - bias[item]) / 0.4;
          const w = i === item ? 0 : near[i] + (content > 0 ? 0.15 * content * Math.exp(-off * off) : 0);
          sum[i] += w * e;
          all[i] += w;
        }
        for (let s = h.near_ptr[item]; s < h.near_ptr[item + 1]; s++) near[h.near_item[s]] = 0;
      });
      return sum.map((x, i) => x / all[i]);
    }
    /* Public facts are loadings beside the released ones. */
    function extend(model) {
      if (!h.loadings) return;
      const d = model.columns.loadings, more = columns.loadings, all = new Float32Array(items * (d + more));
      for (let i = 0; i < items; i++) {
        all.set(model.arrays.loadings.subarray(i * d, (i + 1) * d), i * (d + more));
        all.set(h.loadings.subarray(i * more, (i + 1) * more), i * (d + more) + d);
      }
      model.arrays.loadings = all;
      model.columns.loadings = d + more;
    }

    /* The logarithm of a popularity that is the same for everybody. */
    const popular = () => Float64Array.from(h.root, (x) => 2 * Math.log(x));
    return { extend, lists, popular, values };
  }

  /* ---- a model ---- */

  const FORMULAS = { 'base/1': base, 'ridge/1': ridge, 'ease/1': ease, 'neighbours/1': neighbours };

  function open(said) {
    const model = { items: said.items, scalars: said.scalars, columns: {} };
    model.arrays = decodeAll(said.arrays, model.columns);
    const home = said.home ? homeTerms(said.home, said.items) : null;
    if (home) home.extend(model);
    const formula = FORMULAS[said.formula](model);

    /* Of all items, or at least of those from .. to-1: higher is better, not clipped. */
    function scores(records, from = 0, to = said.items) {
      const own = [...records].sort((a, b) => a[0] - b[0]);
      const same = said.formula === 'base/1', out = home && same ? home.popular() : formula.scores(own, home, from, to);
      if (home && said.formula !== 'ridge/1') home.lists(own.map(([item]) => item), same, out);
      return out;
    }

    const unlisted = new Set(said.unlisted); /* too little is known of them */

    /* The k best items without a record; none if all are equal, which is no order. Equal scores: in the order of items. */
    function list(records, k) {
      const all = scores(records), items = [];
      for (let i = 0; i < all.length; i++) if (!records.has(i) && !unlisted.has(i)) items.push(i);
      if (!items.some((i) => all[i] !== all[items[0]])) return [];
      items.sort((a, b) => all[b] - all[a] || a - b);
      return items.slice(0, k).map((item) => ({ item, score: all[item] }));
    }

    /* What each own record adds to an item's score, the most first: the score less that without the record. */
    function adds(records, item) {
      const whole = scores(records, item, item + 1)[item];
      return [...records.keys()]
        .map((other) => {
          const rest = new Map(records);
          rest.delete(other);
          return { item: other, adds: whole - scores(rest, item, item + 1)[item] };
        })
        .sort((a, b) => b.adds - a.adds);
    }
    return { items: said.items, scores, list, adds };
  }
  return { open };
})();
