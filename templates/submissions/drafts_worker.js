// Service worker of the editor: when the network fails, it answers with what writing/kept.js keeps. It stores nothing itself.

const EDITOR = /^\/contests\/problems\/[0-9a-f-]{36}\/write\/$/;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function answer(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(request, { ignoreVary: true });
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const isPage = request.mode === "navigate" && EDITOR.test(pathname);
  if (request.method !== "GET" || origin !== location.origin || !(isPage || pathname.startsWith("/static/"))) return;
  event.respondWith(answer(request));
});
