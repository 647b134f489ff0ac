// Keeps this page and its static files on the device, so that a reload without a connection shows the editor with the draft.
// The service worker (templates/submissions/drafts_worker.js) only reads what is kept here. site.js deletes it when another account is signed in or none.

const PAGES_AT_MOST = 10;
const STATIC = "/static/";

/** Keep the page of `owner` as the server gives it now. Fails without a connection. */
export async function keepForOffline(owner, worker) {
  if (!navigator.serviceWorker || !globalThis.caches) return;
  await navigator.serviceWorker.register(worker);
  const page = await fetch(location.pathname);
  const isOwn = page.ok && !page.redirected && (await page.clone().text()).includes(`data-draft-owner="${owner}"`);
  if (!isOwn) return;
  const kept = await caches.open(`drafts-${owner}`);
  await kept.delete(location.pathname);
  await kept.put(location.pathname, page);
  const pages = (await kept.keys()).filter(({ url }) => !new URL(url).pathname.startsWith(STATIC));
  await Promise.all(pages.slice(0, -PAGES_AT_MOST).map((old) => kept.delete(old)));
  const urls = performance.getEntriesByType("resource").map(({ name }) => name);
  const files = new Set(urls.filter((url) => url.startsWith(location.origin + STATIC)));
  await Promise.all([...files].map(async (url) => kept.put(url, await fetch(url, { cache: "force-cache" }))));
  document.documentElement.dataset.kept = "yes";
}
