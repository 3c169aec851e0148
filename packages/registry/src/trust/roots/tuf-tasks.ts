// What the process does that asks mirrors of TUF: it reads what somebody else made, and may have to be killed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Fetcher, Updater } from "tuf-js";
import { DownloadHTTPError } from "tuf-js/dist/error.js";
import { FetchError, guardedFetch, whyNotFetched } from "@moorage/kernel/lib/guarded-fetch";
import { parseJson } from "@moorage/kernel/lib/json";
import { serveTasks } from "@moorage/kernel/lib/process-pool/child";
import { trustedRootFault } from "./trusted-root.ts";

const ROLES = ["root", "timestamp", "snapshot", "targets"] as const;

/** The metadata of the four roles, each as it was signed. */
type TufMetadata = Record<(typeof ROLES)[number], string>;

export interface TufInput {
  /** The URL below which the metadata is. */
  url: string;
  /** What was fetched before, or the root that is trusted from the beginning alone. */
  kept: Pick<TufMetadata, "root"> & Partial<TufMetadata>;
  /** An empty folder for this alone. */
  folder: string;
  rules: { allowPrivateNetwork: boolean; dnsServers: readonly string[] };
}

export interface TufFetched {
  metadata: TufMetadata;
  /** The target trusted_root.json. */
  trustedRoot: string;
  /** When the first of the metadata expires, in milliseconds since 1970. */
  expireMs: number;
}

const TARGET = "trusted_root.json";
const MAX_DEPTH = 32;
const MAX_VALUES = 50_000;
const REQUEST_MS = 20_000;
/** The largest content of each kind, in bytes. What is published has a tenth of it. */
const MAX_BYTES = 128 << 10;
const MAX_TIMESTAMP_BYTES = 16 << 10;
/** The most newer roots of one time; the next one goes on. */
const MAX_ROOTS = 32;

/**
 * The trusted root that the mirror has now, verified from the kept root on: newer roots are signed by those before, and
 * no version goes back behind what is kept. Throws when it cannot be had, with why. Source: The Update Framework
 * Specification, §5.
 */
async function fetchRoot({ url, kept, folder, rules }: TufInput): Promise<TufFetched> {
  const place = (role: string): string => join(folder, `${role}.json`);
  // The order matters to nobody: the library reads each when it needs it.
  for (const role of ROLES) if (kept[role] !== undefined) writeFileSync(place(role), kept[role], { mode: 0o600 });
  const base = url.replace(/\/$/, "");
  const updater = new Updater({
    metadataDir: folder,
    metadataBaseUrl: base,
    targetDir: folder,
    targetBaseUrl: `${base}/targets`,
    fetcher: fetcherOf(folder, rules),
    config: {
      maxRootRotations: MAX_ROOTS,
      // No delegated roles: their names would become names of files, and the mirror makes their patterns.
      maxDelegations: 0,
      rootMaxLength: MAX_BYTES,
      timestampMaxLength: MAX_TIMESTAMP_BYTES,
      snapshotMaxLength: MAX_BYTES,
      targetsMaxLength: MAX_BYTES,
    },
  });
  try {
    await updater.refresh();
    const target = await updater.getTargetInfo(TARGET);
    if (target === undefined) throw new Error(`the mirror's targets have no ${TARGET}`);
    const file = join(folder, "target");
    await updater.downloadTarget(target, file);
    const text = (role: string): string => readFileSync(place(role), "utf8");
    const metadata = { root: text("root"), timestamp: text("timestamp"), snapshot: text("snapshot") };
    const all: TufMetadata = { ...metadata, targets: text("targets") };
    const expireMs = Math.min(...ROLES.map((role) => expireMsOf(all[role])));
    const trustedRoot = readFileSync(file, "utf8");
    const fault = await trustedRootFault(trustedRoot);
    if (fault !== undefined) throw new Error(`${TARGET} ${fault}`);
    return { metadata: all, trustedRoot, expireMs };
  } catch (error) {
    throw new Error(plain(error), { cause: error });
  }
}

function expireMsOf(text: string): number {
  const { signed } = JSON.parse(text) as { signed: { expires: string } };
  const expireMs = Date.parse(signed.expires);
  if (!Number.isFinite(expireMs)) throw new Error("the metadata has no time at which it expires");
  return Math.trunc(expireMs);
}

/** Requests by the rules of all that go to addresses of users: see guardedFetch. Redirects are not followed. */
function fetcherOf(folder: string, rules: TufInput["rules"]): Fetcher {
  let files = 0;
  const downloadBytes = async (url: string, maxLength: number): Promise<Buffer> => {
    const name = url.slice(url.lastIndexOf("/") + 1);
    const fetch = guardedFetch({ ...rules, timeoutMs: REQUEST_MS, maxBytes: Math.min(maxLength, MAX_BYTES) });
    try {
      const { status, body } = await fetch(url);
      if (status !== 200) throw new DownloadHTTPError(`${name}: the mirror answers ${status}`, status);
      // Before the library builds it: whatever is not metadata fails there.
      if (name.endsWith(".json")) parseJson(body.toString("utf8"), MAX_DEPTH, MAX_VALUES);
      return body;
    } catch (error) {
      if (error instanceof FetchError) throw new Error(`${name}: ${whyNotFetched(error)}`, { cause: error });
      if (error instanceof SyntaxError) throw new Error(`${name}: it is not JSON, or too large`, { cause: error });
      throw error;
    }
  };
  return {
    downloadBytes,
    async downloadFile(url, maxLength, handler) {
      const file = join(folder, `download-${(files += 1)}`);
      writeFileSync(file, await downloadBytes(url, maxLength), { mode: 0o600 });
      return await handler(file);
    },
  };
}

/** What an error says, without the names of functions and classes that the library puts before it. */
function plain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const inner =
    /^Unable to load (\w+) metadata error \w*Error: ([^]*)$|^Unable to load (\w+) error \w*Error: ([^]*)$/.exec(text);
  if (inner === null) return text;
  const role = inner[1] ?? inner[3] ?? "";
  const said = inner[2] ?? inner[4] ?? "";
  return said.includes(`${role}.json`) ? said : `${role}.json: ${said}`;
}

serveTasks({ fetch: fetchRoot });
