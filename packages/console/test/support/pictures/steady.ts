import type { BrowserContextOptions, Page, Route } from "playwright-core";

// What makes two pictures of the same page the same: a clock that stands, times of answers as if everything was made in
// one moment, and nothing that is random or of the machine in what is shown.

const HOUR_MS = 3_600_000;
/** What the browser's clock says, and the server's at first: an afternoon. */
export const SHOWN_MS = Date.UTC(2026, 10, 26, 14, 30);
/** When everything of the showcase was made, as pages show it. */
const MADE_MS = SHOWN_MS - 1.5 * HOUR_MS;
const API = /^\/(?:iam|registry|vulnerabilities|libraries|advisory|events|operations)\/v2\//;
/** Times more than this from now are not of the showcase: they stay. */
const NEAR_MS = 500 * 24 * HOUR_MS;

/** The server's disk, as pages show it. */
const DISK = { totalBytes: "512000000000", freeBytes: "256000000000" };

/** The showcase and its pages pull less than this often. */
const MOST_PULLS = 1_000;

/** Run in the page: letters have come, nothing is being loaded, and what is measured was laid out. */
const SETTLE = `(async () => {
  const within = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 5_000))]);
  await within(document.fonts.ready);
  for (let left = 100; left > 0 && document.querySelector("[aria-busy=true]") !== null; left--)
    await new Promise((resolve) => setTimeout(resolve, 50));
  for (let frames = 0; frames < 2; frames++) await within(new Promise((resolve) => requestAnimationFrame(resolve)));
})()`;

/** How often a picture is taken until two are equal, and the pause between them: a busy server answers slowly. */
const MAX_SCREENS = 300;
const PAUSE_MS = 60;

/** Run in the page: masks uids, addresses of this server, recent events, versions and sizes of the machine. */
const MASK = String.raw`(() => {
  const isOfMachine = location.pathname.startsWith("/operations");
  const steady = (text) => {
    const masked = text
      .replaceAll(/\b(?:127\.0\.0\.1|localhost):\d+/g, "registry.example")
      .replaceAll(/\b[0-9a-f]{12,}\b/g, (hex) => "0".repeat(hex.length))
      .replaceAll(/\b[0-9a-f]{6}(?=\.sig\b)/g, "000000")
      .replaceAll(/\b[A-Z]{2,8}(?:-[a-z0-9]{4}){3}\b/g, "MRG-0000-0000-0000")
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, "00000000-0000-0000-0000-000000000000")
      // Pages that were opened before have read manifests, each of which is a pull.
      .replaceAll(/\b\d+(?= lately\b)/g, "9")
      .replaceAll(/\b\d+ of the last \d+ events\b/g, "99 of the last 99 events");
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
})()`;

const MADE_DAY = new Date(MADE_MS).toISOString().slice(0, 10);
const TAGS = /^\/registry\/v2\/tags$/;
const PREVIEW = /^\/registry\/v2\/signaturePolicies\/[^:]*:preview$/;
const LISTS_BY_UID = [
  "exposures",
  "findings",
  "artifactPolicies",
  "subscriptions",
  "repos",
  "identities",
  "upstreams",
  "groups",
  "storage",
  "usage",
  "quotas",
  "identityProviders",
  "signers",
  "signaturePolicies",
  "roles",
  "artifacts",
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

/** How many answers of the API each page still waits for. */
const asked = new WeakMap<Page, number>();

/**
 * Has the page show the showcase as it was at a fixed time, of a server that was started at that time. `viewer`: the
 * uid of the identity that looks at the pages, whose own pulls are left out.
 */
export async function steadyPage(page: Page, viewer: string): Promise<void> {
  await page.clock.setFixedTime(SHOWN_MS);
  await page.route(
    (url) => API.test(url.pathname),
    async (route) => {
      asked.set(page, (asked.get(page) ?? 0) + 1);
      await answerShifted(route, viewer);
      asked.set(page, (asked.get(page) ?? 1) - 1);
    },
  );
}

async function answerShifted(route: Route, viewer: string): Promise<void> {
  try {
    const response = await route.fetch({ timeout: 30_000 });
    const type = response.headers()["content-type"] ?? "";
    if (!type.includes("json")) return await route.fulfill({ response });
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response, body: inOrder(shifted(await response.text()), pathname, viewer) });
  } catch {
    // The page went on, or was closed.
    await route.abort().catch(() => {});
  }
}

/** Times are those of full hours from the moment in which all was made, which took the server some minutes. */
function shifted(text: string): string {
  return text.replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"/g, (quoted) => {
    const distanceMs = Date.parse(quoted.slice(1, -1)) - SHOWN_MS;
    if (Math.abs(distanceMs) > NEAR_MS) return quoted;
    return JSON.stringify(new Date(MADE_MS + Math.round(distanceMs / HOUR_MS) * HOUR_MS).toISOString());
  });
}

/** Lists in the order of uids, which are random, are put into another one; what is a matter of time is left out. */
function inOrder(text: string, pathname: string, viewer: string): string {
  const answer = JSON.parse(text) as Record<string, unknown>;
  for (const delivery of listOf<{ attempts?: unknown[]; tries?: number }>(answer["deliveries"])) {
    if (Array.isArray(delivery.attempts)) delivery.attempts = delivery.attempts.slice(0, 1);
    delivery.tries = 1;
  }
  // Pulls are counted a while after they were answered.
  if (Array.isArray(answer["pulls"])) answer["pulls"] = answer["pulls"].filter(({ day }) => day !== MADE_DAY);
  for (const usage of listOf<{ pulls?: string }>(answer["usage"]))
    if (usage.pulls !== undefined) usage.pulls = String(Math.floor(Number(usage.pulls) / MOST_PULLS) * MOST_PULLS);
  if (Array.isArray(answer["exposures"]))
    answer["exposures"] = listOf<{ identity: string }>(answer["exposures"]).filter(
      ({ identity }) => identity !== viewer,
    );
  if (Array.isArray(answer["jobs"])) answer["jobs"] = [];
  // A nearly full disk is warned of.
  if (answer["disk"] !== undefined) answer["disk"] = DISK;
  // The process is older than its server's clock.
  if (typeof answer["startTime"] === "string") answer["startTime"] = new Date(MADE_MS).toISOString();
  if (TAGS.test(pathname))
    for (const tag of listOf<{ lastPullTime?: string }>(answer["tags"]))
      tag.lastPullTime = new Date(MADE_MS).toISOString();
  const keyOf = (item: unknown): string => JSON.stringify(item).replaceAll(/"[0-9a-f/]{16,}"/g, "");
  // Tags are in the order of their repos where a policy is previewed; elsewhere their order means something.
  const names = PREVIEW.test(pathname) ? ["tags"] : LISTS_BY_UID;
  for (const name of names)
    if (Array.isArray(answer[name]))
      answer[name] = answer[name].toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return JSON.stringify(answer);
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

/** Waits until the page has all that it shows. */
export async function settlePage(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor({ state: "attached" });
  await page.waitForLoadState("networkidle");
}

/**
 * A picture of the window without what differs from one run to the next, taken when nothing on it moves any more: two
 * in a row are equal, and no answer is awaited. Where layout is measured it lags on a busy machine.
 */
export async function steadyScreen(page: Page): Promise<Buffer> {
  let last: Buffer | undefined;
  for (let left = MAX_SCREENS; left > 0; left--) {
    await page.evaluate(SETTLE);
    await page.evaluate(MASK);
    const screen = await page.screenshot({ animations: "disabled", caret: "hide", scale: "css" });
    if (last?.equals(screen) === true && (asked.get(page) ?? 0) === 0) return screen;
    last = screen;
    await page.waitForTimeout(PAUSE_MS);
  }
  throw new Error(`${page.url()} still changes after ${MAX_SCREENS} pictures of it`);
}
