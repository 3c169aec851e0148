import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

// Lighthouse is too large for a dev dependency: .ci/tools.sh installs it.
const PROGRAM = join(import.meta.dirname, "../../../../build/tools/lighthouse");
const MAX_LOAD_MS = 10_000;

/** A page for each of what the console is for; all routes are a quarter of an hour on two processors. */
export const MAIN_PAGES = [
  "/",
  "/repo",
  "/tag",
  "/image",
  "/vulnerability",
  "/access/group",
  "/repo/settings",
  "/events",
  "/sessions",
];

/** What Lighthouse found of a page. */
interface Report {
  lhr: {
    categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>;
    audits: Record<string, { score: number | null; title: string; numericValue?: number; details?: unknown }>;
  };
}

/** Why Lighthouse cannot be used here; false when it can. */
export function lacksLighthouse(): string | false {
  return !existsSync(PROGRAM) && "Lighthouse is not installed: .ci/tools.sh lighthouse";
}

/**
 * Loads Lighthouse, for pages of the browser that listens for programs at the port. `audit` throws when there is no
 * report.
 */
export async function openLighthouse(port: number, categories: readonly string[]) {
  // Beside the program, which is in cli/.
  const code = join(dirname(realpathSync(PROGRAM)), "../core/index.js");
  const { default: lighthouse } = (await import(pathToFileURL(code).href)) as {
    default: (url: string, flags: object) => Promise<Report | undefined>;
  };
  return {
    async audit(url: string): Promise<Report["lhr"]> {
      const report = await lighthouse(url, {
        port,
        output: "json",
        logLevel: "error",
        onlyCategories: categories,
        disableStorageReset: true,
        formFactor: "desktop",
        screenEmulation: { disabled: true },
        throttlingMethod: "provided",
        disableFullPageScreenshot: true,
        // Pages with events as they happen are never without a request.
        maxWaitForLoad: MAX_LOAD_MS,
      });
      if (report === undefined) throw new Error(`${url}: no report`);
      return report.lhr;
    },
  };
}
