import type { Page } from "playwright-core";
import { type Console, noteComplaints, openConsole, signIn } from "../console.ts";
import { fillDays } from "../showcase-days.ts";
import { fillShowcase } from "../showcase.ts";
import { type DesignPage, designPages, type Look } from "./pages.ts";
import { settlePage, SHOWN_MS, STEADY_FLAGS, STEADY_OPTIONS, steadyPage, steadyScreen } from "./steady.ts";

/** What is taken of a page. */
export interface Taken {
  page: DesignPage;
  look: Look;
  /** Such as `home-1440-dark`. */
  name: string;
  /** A PNG of the window. */
  screen: Buffer;
  /** What shows it, for a closer look. */
  shown: Page;
}

interface Opened {
  console_: Console;
  pages: readonly DesignPage[];
  /** Chromium's. */
  version: string;
}

/** How many pages are taken concurrently: most of the time one waits for its data to come and its layout to rest. */
const CONCURRENT = 3;

/** A server with the showcase, and a browser for pictures. Undefined without Chromium. */
export async function openShowcase(): Promise<Opened | undefined> {
  const env = { MOORAGE_CATALOG_IMAGES: "1", MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };
  const console_ = await openConsole(env, { flags: STEADY_FLAGS, whole: true, startMs: SHOWN_MS });
  if (console_ === undefined) return undefined;
  const showcase = await fillShowcase(console_.platform);
  await fillDays(console_.platform, showcase.repo);
  return { console_, pages: designPages(showcase), version: console_.version };
}

/**
 * Takes the pages in these looks, and gives each picture to `each`. Every page is opened in a browser
 * that has seen no other one: what the console remembers does not depend on the order.
 */
export async function takePictures(
  { console_, pages }: Opened,
  looks: readonly Look[],
  each: (taken: Taken) => Promise<void> | void,
): Promise<void> {
  const session = await console_.signedOut(STEADY_OPTIONS);
  await steadyPage(session, console_.platform.owner);
  await signIn(session, await console_.platform.token());
  const storageState = await session.context().storageState();
  await session.context().close();
  const left = [...pages];
  const worker = async (): Promise<void> => {
    for (let page = left.shift(); page !== undefined; page = left.shift()) {
      const options = { ...STEADY_OPTIONS, ...(page.isSignedOut !== true && { storageState }) };
      const shown = await console_.signedOut(options);
      noteComplaints(shown, console_.complaints);
      await steadyPage(shown, console_.platform.owner);
      await open(shown, page);
      // The first picture of a window is drawn otherwise than those that follow: it is not kept.
      if (looks[0] !== undefined) await take(shown, { ...looks[0], theme: "dark" });
      for (const look of looks) {
        const name = `${page.name}-${look.width}-${look.theme}`;
        await each({ page, look, name, shown, screen: await take(shown, look) });
      }
      await shown.context().close();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
}

/** Opens the page at a size that is not compared: its data and fonts are there before it gets the size of a picture. */
async function open(shown: Page, { path, keys, typed }: DesignPage): Promise<void> {
  await shown.setViewportSize({ width: 1200, height: 900 });
  await shown.goto(path);
  await settlePage(shown);
  if (keys !== undefined) await shown.keyboard.press(keys);
  if (typed === undefined) return;
  const [text, found] = typed;
  await shown.getByRole("dialog").locator("input").fill(text);
  await shown.getByText(found, { exact: true }).first().waitFor();
}

async function take(shown: Page, { width, height, theme }: Look): Promise<Buffer> {
  await shown.setViewportSize({ width, height });
  await shown.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  return await steadyScreen(shown);
}
