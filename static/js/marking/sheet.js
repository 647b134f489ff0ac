// The effect of commands on a mark sheet, to show it before the server answers. Pure. The server's answer always replaces it;
// rules and refusals are in apps/reasoning/marking/sheets/commands.py.

/** A place in words: a page is a step from 10,001 on (apps/reasoning/marking/sheets/pages.py). */
export function placeWords(step) {
  if (step > 10_000) return `page ${step - 10_000}`;
  return step ? `step ${step}` : "whole script";
}

export const EMPTY = { band: null, ticks: [], places: {}, is_mixed: false, typed: null, reason: "", verdicts: [], comments: [], granted: [], approach: "" };

const without = (list, value) => list.filter((one) => one !== value);
const put = (notes, note) => (notes.some((one) => one.id === note.id) ? notes.map((one) => (one.id === note.id ? { ...one, ...note } : one)) : [...notes, note]);
const remove = (notes, id) => notes.filter((one) => one.id !== id);
const change = (notes, id, values) => notes.map((one) => (one.id === id ? { ...one, ...values } : one));

/** The last root error other than `id`; "" without one. */
export function lastRoot(sheet, id = "") {
  return sheet.verdicts.findLast((one) => one.role === "root" && one.id !== id)?.id ?? "";
}

function withRole(sheet, id, role, root) {
  const from = role === "consequence" ? root || lastRoot(sheet, id) : "";
  let verdicts = change(sheet.verdicts, id, { role, root: from });
  if (role === "consequence" || role === "harmless") verdicts = verdicts.map((one) => (one.root === id ? { ...one, root: "" } : one));
  if (from) verdicts = change(verdicts, from, { role: "root" });
  return { ...sheet, verdicts };
}

const VERBS = {
  band: (sheet, { band }) => ({ ...sheet, band }),
  points: (sheet, { points }) => ({ ...sheet, typed: points }),
  tick: (sheet, { code, step }) => ({ ...sheet, ticks: [...without(sheet.ticks, code), code].sort(), places: step ? { ...sheet.places, [code]: step } : sheet.places }),
  untick: (sheet, { code }) => {
    const { [code]: _gone, ...places } = sheet.places ?? {};
    return { ...sheet, ticks: without(sheet.ticks, code), places };
  },
  mixed: (sheet, { on }) => ({ ...sheet, is_mixed: on }),
  reason: (sheet, { words }) => ({ ...sheet, reason: words }),
  approach: (sheet, { words }) => ({ ...sheet, approach: words }),
  verdict: (sheet, { role = "independent", root = "", ...note }) =>
    withRole({ ...sheet, verdicts: put(sheet.verdicts, { words: "", items: [], anchor: null, region: null, origin: "", ...note }) }, note.id, role, root),
  verdict_role: (sheet, { id, role, root = "" }) => withRole(sheet, id, role, root),
  verdict_remove: (sheet, { id }) => ({
    ...sheet,
    verdicts: remove(sheet.verdicts, id).map((one) => (one.root === id ? { ...one, root: "" } : one)),
  }),
  comment: (sheet, note) => ({ ...sheet, comments: put(sheet.comments, { audience: "student", items: [], anchor: null, region: null, step: 0, ...note }) }),
  comment_remove: (sheet, { id }) => ({ ...sheet, comments: remove(sheet.comments, id) }),
  grant: (sheet, { step, on }) => ({ ...sheet, granted: on ? [...without(sheet.granted, step), step].sort((a, b) => a - b) : without(sheet.granted, step) }),
  link: (sheet, { kind, id, code, on }) => {
    const field = kind === "verdict" ? "verdicts" : "comments";
    const notes = sheet[field].map((one) => (one.id === id ? { ...one, items: on ? [...without(one.items, code), code] : without(one.items, code) } : one));
    return { ...sheet, [field]: notes };
  },
  clear: () => EMPTY,
};

/** The sheet after a command, as far as it is known here; only the server reads claim lines. */
export function applied(sheet, verb, args) {
  return VERBS[verb] ? VERBS[verb](sheet, args) : sheet;
}

/** The first step with an error that is not harmless; null without one. */
export function firstError(sheet) {
  const steps = sheet.verdicts.filter((one) => one.role !== "harmless").map((one) => one.step);
  return steps.length ? Math.min(...steps) : null;
}

/** The points shown while an answer is pending: typed ones, else those computed for the same ticks. */
export function pointsShown(sheet, state) {
  if (sheet.typed !== null) return String(sheet.typed);
  const same = state.sheet.is_mixed === sheet.is_mixed && String([...state.sheet.ticks].sort()) === String([...sheet.ticks].sort());
  return same ? state.computed : undefined;
}

/** `points` plus half a point, or minus if it already has a half; null above the scale. */
export function halved(points, scale) {
  const value = Number(points ?? 0);
  const next = Number.isInteger(value) ? value + 0.5 : value - 0.5;
  return next > Number(scale) ? null : String(next);
}

/** The points for a digit, combined with the previous digit on scales over 9; null above the scale. */
export function digitPoints(digit, before, scale) {
  if (Number(scale) > 9 && before && Number(before + digit) <= Number(scale)) return String(Number(before + digit));
  return Number(digit) <= Number(scale) ? digit : null;
}

/** Points with their noun: "1 point", "2.5 points". */
export function pointsWords(points) {
  return `${points} point${Number(points) === 1 ? "" : "s"}`;
}
