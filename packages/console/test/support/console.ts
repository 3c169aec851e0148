import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));
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

/** A server with the console, and a browser. */
export interface Console {
  platform: Platform;
  /**
   * A page of a browser of its own in which somebody is signed in: the owner of the installation, or another identity
   * with the rights of an access token.
   */
  signedIn(who?: { identity?: string; options?: BrowserContextOptions }): Promise<Page>;
  /** What pages have written to the browser's console as errors; tests expect none. */
  complaints: string[];
  close(): Promise<void>;
}

/**
 * Starts them. Undefined when no Chromium is installed: the tests are then skipped by `skipWithout`. `env`: settings of
 * the server.
 */
export async function openConsole(env: Record<string, string> = {}): Promise<Console | undefined> {
  if (CHROMIUM === undefined) return undefined;
  execFileSync(process.execPath, ["scripts/console.ts", "--if-stale"], {
    cwd: join(import.meta.dirname, "../../../.."),
    timeout: BUILD_TIMEOUT_MS,
  });
  const platform = await startPlatform(env);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: TIMEOUT_MS });
  const complaints: string[] = [];
  return {
    platform,
    complaints,
    signedIn: (who) => signedIn(browser, platform, complaints, who),
    async close() {
      await browser.close();
      await platform.close();
    },
  };
}

/** Skips the test, with the reason, where there is no browser; otherwise returns the console. */
export function needs(t: TestContext, console_: Console | undefined): Console | undefined {
  if (console_ === undefined) t.skip("no Chromium on this machine: apt-get install chromium");
  return console_;
}

async function signedIn(
  browser: Browser,
  platform: Platform,
  complaints: string[],
  { identity, options = {} }: { identity?: string; options?: BrowserContextOptions } = {},
): Promise<Page> {
  const context = await browser.newContext({ baseURL: platform.url, ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    // A request that was rejected is noted by the browser; what the page made of it is the test's concern.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  await page.goto("/login");
  await page.getByText("Sign in with an access token").click();
  await page.getByLabel("Access token").fill(await platform.token(identity));
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL("/");
  return page;
}
