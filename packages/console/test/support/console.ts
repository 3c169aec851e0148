import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));
/**
 * The same browser without what people see around a page, which takes three quarters of its processor time. The night
 * has the whole one.
 */
const SHELL = "/usr/bin/chromium-headless-shell";
const USES_SHELL = !process.env["MOORAGE_TEST_WHOLE_BROWSER"] && existsSync(SHELL);
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const TIMEOUT_MS = 30_000;
const BUILD_TIMEOUT_MS = 300_000;
/** So many resources of a page are noted. */
const MAX_RESOURCES = 5_000;

/** A server with the console, and a browser. */
export interface Console {
  platform: Platform;
  /**
   * A page of a browser of its own in which somebody is signed in: the owner of the installation, or another identity
   * with the rights of an access token.
   */
  signedIn(who?: { identity?: string; options?: BrowserContextOptions }): Promise<Page>;
  /** A page of a browser of its own in which nobody is signed in. */
  signedOut(options?: BrowserContextOptions): Promise<Page>;
  /** What pages have written to the browser's console as errors; tests expect none. */
  complaints: string[];
  /** Chromium's version. */
  version: string;
  close(): Promise<void>;
}

/** `flags`: of Chromium. `whole`: the whole browser, for comparisons in which small differences count. */
interface BrowserOptions {
  flags?: readonly string[];
  whole?: boolean;
}

/** Builds the console when it is older than its sources, and starts Chromium. Undefined when none is installed. */
export async function openBrowser({ flags = [], whole = false }: BrowserOptions = {}): Promise<Browser | undefined> {
  const executablePath = USES_SHELL && !whole ? SHELL : CHROMIUM;
  if (executablePath === undefined) return undefined;
  buildConsole();
  return await chromium.launch({ executablePath, args: [...FLAGS, ...flags], timeout: TIMEOUT_MS });
}

/** Builds the console when needed, and starts Chromium with one profile, which other programs reach by its port. */
export async function openProfile(baseURL: string, flags: readonly string[]): Promise<BrowserContext | undefined> {
  if (CHROMIUM === undefined) return undefined;
  buildConsole();
  const options = { executablePath: CHROMIUM, args: [...FLAGS, ...flags], baseURL, timeout: TIMEOUT_MS };
  const context = await chromium.launchPersistentContext("", options);
  context.setDefaultTimeout(TIMEOUT_MS);
  return context;
}

function buildConsole(): void {
  execFileSync(process.execPath, ["scripts/console.ts", "--if-stale"], {
    cwd: join(import.meta.dirname, "../../../.."),
    timeout: BUILD_TIMEOUT_MS,
  });
}

/** A page of a browser of its own at the server, in which nobody is signed in. */
export async function newPage(browser: Browser, baseURL: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ baseURL, ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
  // A browser notes 250 resources of a page; the console has more files than that.
  await context.addInitScript(`performance.setResourceTimingBufferSize(${MAX_RESOURCES})`);
  return await context.newPage();
}

/** Signs in with the access token, as a person does. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.goto("/login");
  await page.getByText("Sign in with an access token").click();
  await page.getByLabel("Access token").fill(token);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL("/");
}

/** Waits until the code of a page is there, by a part of its file's name: the console loads all when it is idle. */
export async function codeOf(page: Page, name: string): Promise<void> {
  await page.waitForFunction(
    (part) => performance.getEntriesByType("resource").some((each) => each.name.includes(part)),
    name,
  );
  await page.waitForLoadState("networkidle");
}

/**
 * Starts them. Undefined when no Chromium is installed: the tests are then skipped by `skipWithout`. `env`: settings of
 * the server. `startMs`: what the server's clock says at first; now without one.
 */
export async function openConsole(
  env: Record<string, string> = {},
  { startMs, ...options }: BrowserOptions & { startMs?: number } = {},
): Promise<Console | undefined> {
  const browser = await openBrowser(options);
  if (browser === undefined) return undefined;
  const platform = await startPlatform(env, undefined, startMs);
  const complaints: string[] = [];
  return {
    platform,
    complaints,
    version: browser.version(),
    signedIn: (who) => signedIn(browser, platform, complaints, who),
    signedOut: (options) => newPage(browser, platform.url, options),
    async close() {
      await browser.close();
      await platform.close();
    },
  };
}

/** Skips the test, with the reason, where there is no browser; otherwise returns the console. */
export function needs<T extends Console | Browser | BrowserContext>(
  t: TestContext,
  console_: T | undefined,
): T | undefined {
  if (console_ === undefined) t.skip("no Chromium on this machine: apt-get install chromium");
  return console_;
}

/** Has `complaints` hold what the page writes to the browser's console as errors. */
export function noteComplaints(page: Page, complaints: string[]): void {
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    // A request that was rejected is noted by the browser; what the page made of it is the test's concern.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
}

async function signedIn(
  browser: Browser,
  platform: Platform,
  complaints: string[],
  { identity, options = {} }: { identity?: string; options?: BrowserContextOptions } = {},
): Promise<Page> {
  const page = await newPage(browser, platform.url, options);
  noteComplaints(page, complaints);
  await signIn(page, await platform.token(identity));
  return page;
}
