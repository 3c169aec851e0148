import type { Logger } from "pino";
import type { StorageFault } from "@moorage/kernel/errors";
import { describeSpace, type DiskSpace, isScarce, spaceOf } from "@moorage/kernel/lib/disk-space";

type Part = StorageFault["part"];

/** Where the parts of the storage are, as far as that is a folder of this machine. */
export interface StoragePlaces {
  /** The folder that holds the database; undefined for PostgreSQL. */
  database?: string;
  /** The folder that holds the blobs; undefined for a bucket. */
  blobs?: string;
  /** The data folder, and that of temporary files. */
  disk: readonly string[];
  /** Whether space is kept with which small writes go on while the database is full. */
  hasReserve: boolean;
}

/** Which parts of the storage are full. While one is, the log says so once a minute, with the folder and its space. */
export interface StorageSpace {
  /** Where the parts are, once that is known. */
  places(places: StoragePlaces): void;
  /** The part was found full. `detail`: what the engine or the operating system said. */
  began(part: Part, detail: string | undefined): void;
  /** The part has space again. */
  ended(part: Part): void;
  /** What is refused meanwhile, and what is served, in a few words; undefined while nothing is full. */
  refused(): string | undefined;
  close(): void;
}

export interface StorageSpaceOptions {
  /** How often the log says that a part is full, in milliseconds. Defaults to a minute. */
  everyMs?: number;
  /** Called whenever that changes. */
  onFull?(isFull: boolean): void;
}

const EVERY_MS = 60_000;
const NAMES: Readonly<Record<Part, string>> = {
  database: "the database",
  blobs: "the blob store",
  disk: "the data folder",
};
const MAKE_SPACE = "delete what is not needed and run moorage gc, or enlarge it";

export function createStorageSpace(
  log: Pick<Logger, "error" | "info">,
  { everyMs = EVERY_MS, onFull = () => {} }: StorageSpaceOptions = {},
): StorageSpace {
  const full = new Map<Part, { detail: string | undefined }>();
  let where: StoragePlaces = { disk: [], hasReserve: false };
  let timer: NodeJS.Timeout | undefined;
  let sinceMs = 0;

  const refused = (): string | undefined => (full.size === 0 ? undefined : refusedWhile(full, where));
  const say = async (): Promise<void> => {
    const folders = [...new Set([...full.keys()].flatMap((part) => foldersOf(part, where)))];
    const looked = await Promise.all(folders.map(async (folder) => ({ folder, space: await spaceOf(folder) })));
    if (full.size === 0) return;
    const parts = [...full.keys()];
    const scarce = looked.filter(({ space }) => space === undefined || isScarce(space));
    const shown = scarce.length > 0 ? scarce : looked;
    const [first] = shown;
    const detail = [...full.values()].find((each) => each.detail !== undefined)?.detail;
    log.error(
      {
        parts,
        ...(first !== undefined && { folder: first.folder, ...first.space }),
        ...(detail !== undefined && { detail }),
        fullSeconds: Math.round((performance.now() - sinceMs) / 1000),
      },
      `${parts.map((part) => NAMES[part]).join(" and ")} ${parts.length === 1 ? "is" : "are"} full${describe(shown)}; ` +
        `${refused() ?? ""}; ${MAKE_SPACE}`,
    );
  };

  return {
    places: (places) => void (where = places),
    began(part, detail) {
      const isFirst = full.size === 0;
      if (!full.has(part)) full.set(part, { detail });
      if (!isFirst) return;
      sinceMs = performance.now();
      onFull(true);
      void say();
      timer = setInterval(() => void say(), everyMs).unref();
    },
    ended(part) {
      if (!full.delete(part) || full.size > 0) return;
      clearInterval(timer);
      onFull(false);
      const fullSeconds = Math.round((performance.now() - sinceMs) / 1000);
      log.info({ part, fullSeconds }, "storage has space again: all writes are taken");
    },
    refused,
    close: () => clearInterval(timer),
  };
}

function describe(looked: readonly { folder: string; space: DiskSpace | undefined }[]): string {
  if (looked.length === 0) return "";
  const each = looked.map(({ folder, space }) =>
    space === undefined ? `${folder} does not say what is free` : `${folder} has ${describeSpace(space)} free`,
  );
  return `: ${each.join(", ")}`;
}

function foldersOf(part: Part, places: StoragePlaces): readonly string[] {
  if (part === "disk") return places.disk;
  const folder = places[part];
  return folder === undefined ? [] : [folder];
}

/** A full database on SQLite takes what the reserve is for; without a reserve, and on PostgreSQL, no writes at all. */
function refusedWhile(full: ReadonlyMap<Part, unknown>, { database, hasReserve }: StoragePlaces): string {
  if (full.has("database"))
    return hasReserve && database !== undefined
      ? "refused: pushes, published packages, copies from other registries and all else that adds content; served: pulls, other reads, sign-ins, tokens, deletes, garbage collection"
      : "refused: all writes; served: pulls and other reads";
  if (full.has("blobs"))
    return "refused: pushes, published packages and copies from other registries; served: pulls, other reads, and other writes";
  return "refused: what needs the data folder or temporary files; served: all else";
}
