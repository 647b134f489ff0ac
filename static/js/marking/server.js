// Requests of the workspace to the server, as JSON with the page's CSRF token.

/** POST `body` as JSON; `{ status, body }`. Rejects without a connection. */
export async function post(url, body, options = {}) {
  const token = JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";
  const answer = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": token },
    body: JSON.stringify(body),
    redirect: "manual", // A redirect leads to the sign-in page.
    ...options,
  });
  if (answer.type === "opaqueredirect") return { status: 403, body: {} };
  const isJson = answer.headers.get("Content-Type")?.includes("json");
  return { status: answer.status, body: isJson ? await answer.json() : {} };
}

/** For status 403: the session ended, and with it the token of this page. */
export const SIGNED_OUT = "You are signed out. Your work is kept in this browser: sign in in another tab, then load this page again.";

/** A JSON value from a template. */
export function given(root, name) {
  return JSON.parse(root.querySelector(`[data-json="${name}"] script`).textContent);
}
