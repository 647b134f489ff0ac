// The votes of a replay as a list: a line for each subject with recent votes, a mark for each vote.

const MOST_SUBJECTS = 12;
const MOST_MARKS = 40;

/** Draw the newest of `votes` (subject → its votes, newest subject last) into `list`; `nameOf(subject)` is its name. */
export function drawVotes(list, votes, nameOf) {
  const newest = [...votes].slice(-MOST_SUBJECTS).reverse();
  list.replaceChildren(...newest.map(([subject, cast]) => line(nameOf(subject), cast)));
  if (newest.length) return;
  const none = document.createElement("li");
  none.className = "muted small";
  none.textContent = "No votes yet.";
  list.append(none);
}

function line(name, cast) {
  const item = document.createElement("li");
  item.className = "votes__line";
  const title = document.createElement("span");
  title.className = "votes__subject";
  title.textContent = name;
  item.append(title, " ");
  for (const { index, mark, words } of cast.slice(-MOST_MARKS)) {
    const sign = document.createElement("span");
    sign.className = `vote__mark vote__mark--${mark}`;
    sign.title = `Vote ${index}: ${words}`;
    sign.setAttribute("aria-hidden", "true");
    item.append(sign);
  }
  const last = document.createElement("span");
  last.className = "small muted";
  last.textContent = ` ${cast.at(-1).words}`;
  item.append(last);
  return item;
}
