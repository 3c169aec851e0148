import type { Page } from "playwright-core";
import { type Console, openConsole } from "../console.ts";
import { fillDays } from "../showcase-days.ts";
import { fillShowcase } from "../showcase.ts";
import { type DesignPage, designPages, type Look, looksAt } from "./pages.ts";
import { settlePage, STEADY_FLAGS, STEADY_OPTIONS, steadyPage } from "./steady.ts";

/** What is taken of a page. */
interface Taken {
  page: DesignPage;
  look: Look;
  /** Such as `home-1440-dark`. */
  name: string;
  /** A PNG of the window. */
  screen: Buffer;
}

/** A server with the showcase, and a browser for pictures. Undefined without Chromium. */
export async function openShowcase(): Promise<{ console_: Console; pages: DesignPage[]; startMs: number } | undefined> {
  const env = { MOORAGE_CATALOG_IMAGES: "1", MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };
  const console_ = await openConsole(env, STEADY_FLAGS);
  if (console_ === undefined) return undefined;
  const startMs = console_.platform.clock.nowMs();
  const showcase = await fillShowcase(console_.platform);
  await fillDays(console_.platform, showcase.repo);
  return { console_, pages: designPages(showcase), startMs };
}

/** Takes the pages at these widths, light and dark, one after the other. */
export async function* takePictures(
  { console_, pages, startMs }: { console_: Console; pages: readonly DesignPage[]; startMs: number },
  widths: readonly number[],
): AsyncGenerator<Taken, void, undefined> {
  const looks = looksAt(widths);
  const signedIn = await console_.signedIn({ options: STEADY_OPTIONS });
  const signedOut = await console_.signedOut(STEADY_OPTIONS);
  for (const page of [signedIn, signedOut]) await steadyPage(page, startMs);
  for (const page of pages) {
    const shown = page.isSignedOut ? signedOut : signedIn;
    await open(shown, page, looks[0]);
    for (const look of looks) {
      const name = `${page.name}-${look.width}-${look.theme}`;
      yield { page, look, name, screen: await take(shown, look) };
    }
  }
}

async function open(shown: Page, { path, keys }: DesignPage, look: Look | undefined): Promise<void> {
  if (look !== undefined) await shown.setViewportSize({ width: look.width, height: look.height });
  await shown.goto(path);
  await settlePage(shown);
  if (keys !== undefined) await shown.keyboard.press(keys);
}

async function take(shown: Page, { width, height, theme }: Look): Promise<Buffer> {
  await shown.setViewportSize({ width, height });
  await shown.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await settlePage(shown);
  return await shown.screenshot({ animations: "disabled", caret: "hide", scale: "css" });
}
