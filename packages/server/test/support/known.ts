import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadConfig, withFeeds } from "../../src/index.ts";
import { osv } from "./feed-files.ts";
import type { Json, Platform } from "./platform.ts";
import { zipOf } from "./zip.ts";

export const DOCUMENTS = "/advisory/v2/documents";
export const METADATA = "/advisory/v2/metadata";

/** Imports files into feeds, as the operator of the platform's installation does while the server runs. */
export async function importFeeds(
  { settings }: Platform,
  feeds: Readonly<Record<string, { file: string; content: string | Uint8Array; licence?: string }>>,
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "moorage-known-"));
  try {
    await withFeeds(loadConfig(settings), async (admin) => {
      for (const [feed, { file, content, licence = "CC0-1.0" }] of Object.entries(feeds)) {
        const source = path.join(folder, file);
        writeFileSync(source, content);
        await admin.importFile(source, { feed, licence });
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** An archive of OSV records. */
export function osvArchive(records: readonly Record<string, unknown>[]): Uint8Array {
  return zipOf(records.map((record) => ({ name: `${record["id"]}.json`, content: osv(String(record["id"]), record) })));
}

/** All items of a list, page by page; each page has at most `size`. */
export async function pagesOf(platform: Platform, address: string, field: string, size: number): Promise<Json[][]> {
  const pages: Json[][] = [];
  for (let token = ""; ;) {
    const query = token === "" ? "" : `&page_token=${token}`;
    const page = await platform.ok("GET", `${address}${address.includes("?") ? "&" : "?"}page_size=${size}${query}`);
    pages.push(page[field] as Json[]);
    token = String(page["nextPageToken"]);
    if (token === "") return pages;
  }
}
