import type { BrowserContextOptions, Page, Route } from "playwright-core";

// What makes two pictures of the same page the same: a clock that stands, times of answers as if everything was made in
// one moment, and nothing that is random or of the machine in what is shown.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** When everything of the showcase was made, and what the browser's clock says: an afternoon, 90 minutes later. */
const MADE_MS = Date.UTC(2026, 10, 26, 13, 0);
const SHOWN_MS = MADE_MS + 1.5 * HOUR_MS;
const API = /^\/(?:iam|registry|vulnerabilities|libraries|advisory|events|operations)\/v2\//;
/** Times more than this from now are not of the showcase: they stay. */
const NEAR_MS = 500 * DAY_MS;

/** Run in the page: the text stays the same for a while, letters have come, and nothing is being loaded. */
const SETTLE = `(async () => {
  await document.fonts.ready;
  let last = "";
  for (let same = 0, left = 200; same < 4 && left > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve, 75));
    const text = document.body.innerText;
    same = text === last && document.querySelector("[aria-busy=true]") === null ? same + 1 : 0;
    last = text;
  }
})()`;

/** Run in the page: masks uids, addresses of this server, versions and sizes of the machine, and fonts of its own. */
const MASK = String.raw`(() => {
  const isOfMachine = location.pathname.startsWith("/operations");
  const steady = (text) => {
    const masked = text
      .replaceAll(/\b(?:127\.0\.0\.1|localhost):\d+/g, "registry.example")
      .replaceAll(/\b[0-9a-f]{12,}\b/g, (hex) => "0".repeat(hex.length))
      .replaceAll(/\b[\d,]+ pulls counted/g, "100 pulls counted")
      .replaceAll(/\b[A-Z]{2,8}(?:-[a-z0-9]{4}){3}\b/g, "MRG-0000-0000-0000")
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, "00000000-0000-0000-0000-000000000000");
    if (!isOfMachine) return masked;
    return masked
      .replaceAll(/\d+(?:\.\d+)? (?:B|KiB|MiB|GiB|TiB)\b/g, "1.00 GiB")
      .replaceAll(/\b\d+\.\d+\.\d+(?:-[\w.]+)?\b/g, "2.0.0");
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const masked = steady(node.nodeValue);
    if (masked !== node.nodeValue) node.nodeValue = masked;
  }
  for (const input of document.querySelectorAll("input, textarea"))
    if (steady(input.value) !== input.value) input.value = steady(input.value);
  document.documentElement.style.setProperty("--mono", "var(--font)");
})()`;

const LISTS_BY_UID = [
  "findings",
  "artifactPolicies",
  "subscriptions",
  "repos",
  "identities",
  "upstreams",
  "groups",
  "storage",
];

/** A browser in which pictures are the same wherever they are taken; its pages are made by `steadyPage`. */
export const STEADY_OPTIONS: BrowserContextOptions = {
  reducedMotion: "reduce",
  locale: "en-US",
  timezoneId: "UTC",
  deviceScaleFactor: 1,
  serviceWorkers: "block",
  bypassCSP: true,
};

/** Flags of Chromium for the same letters on each machine. */
export const STEADY_FLAGS = [
  "--font-render-hinting=none",
  "--disable-lcd-text",
  "--disable-font-subpixel-positioning",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
];

/** Has the page show the showcase as it was at a fixed time. `startMs`: when the showcase was made, by the server. */
export async function steadyPage(page: Page, startMs: number): Promise<void> {
  await page.clock.setFixedTime(SHOWN_MS);
  await page.route(
    (url) => API.test(url.pathname),
    (route) => answerShifted(route, startMs),
  );
}

async function answerShifted(route: Route, startMs: number): Promise<void> {
  try {
    const response = await route.fetch({ timeout: 30_000 });
    const type = response.headers()["content-type"] ?? "";
    if (!type.includes("json")) return await route.fulfill({ response });
    await route.fulfill({ response, body: inOrder(shifted(await response.text(), startMs)) });
  } catch {
    // The page went on, or was closed.
    await route.abort().catch(() => {});
  }
}

/** Times are those of full hours from the moment in which all was made; days are as far from that day as they were. */
function shifted(text: string, startMs: number): string {
  const days = Math.round((Math.floor(MADE_MS / DAY_MS) - Math.floor(startMs / DAY_MS)) * DAY_MS);
  return text
    .replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"/g, (quoted) => {
      const distanceMs = Date.parse(quoted.slice(1, -1)) - startMs;
      if (Math.abs(distanceMs) > NEAR_MS) return quoted;
      return JSON.stringify(new Date(MADE_MS + Math.round(distanceMs / HOUR_MS) * HOUR_MS).toISOString());
    })
    .replaceAll(/"\d{4}-\d\d-\d\d"/g, (quoted) => {
      const ms = Date.parse(quoted.slice(1, -1));
      return Math.abs(ms - startMs) > NEAR_MS ? quoted : JSON.stringify(new Date(ms + days).toISOString().slice(0, 10));
    });
}

/** Lists in the order of uids, which are random, are put into another one; how often was tried is a matter of time. */
function inOrder(text: string): string {
  const answer = JSON.parse(text) as Record<string, unknown>;
  for (const delivery of (answer["deliveries"] ?? []) as { attempts?: unknown[] }[])
    if (Array.isArray(delivery.attempts)) delivery.attempts = delivery.attempts.slice(0, 1);
  const keyOf = (item: unknown): string => JSON.stringify(item).replaceAll(/"[0-9a-f/]{16,}"/g, "");
  for (const name of LISTS_BY_UID)
    if (Array.isArray(answer[name]))
      answer[name] = answer[name].toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return JSON.stringify(answer);
}

/** Waits until the page has all that it shows, and takes out what differs from one run to the next. */
export async function settlePage(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor({ state: "attached" });
  await page.waitForLoadState("networkidle");
  await page.evaluate(SETTLE);
  await page.evaluate(MASK);
}
