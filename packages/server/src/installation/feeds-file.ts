import { readFileSync, statSync } from "node:fs";
import { type Config, ConfigError, parseDuration, settingError } from "@moorage/kernel/config";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { isObject } from "@moorage/kernel/lib/json";
import {
  checkedDefinition,
  DEFAULT_FEED_INTERVAL_MS,
  type FeedDefinition,
  FeedDefinitionError,
  putFeeds,
} from "@moorage/security/security";

const MAX_FILE_BYTES = 1 << 20;
const FIELDS = ["name", "format", "address", "licence", "interval", "products", "covers"];

/**
 * Reads the feeds of the setting MOORAGE_FEEDS_FILE: YAML or JSON, a list of `{name, format, address, license,
 * interval, products, covers}`. Undefined without the setting. Throws a ConfigError that names the file and the field.
 */
export async function readFeedsFile({
  feedsFile: file,
  allowPrivateNetwork,
}: Pick<Config, "feedsFile" | "allowPrivateNetwork">): Promise<FeedDefinition[] | undefined> {
  if (file === "") return undefined;
  const wrong = (problem: string, cause?: unknown): ConfigError =>
    settingError("feedsFile", `${file}: ${problem}`, { cause });
  let entries: unknown;
  try {
    if (statSync(file).size > MAX_FILE_BYTES) throw wrong(`is larger than ${MAX_FILE_BYTES} bytes`);
    // JSON is YAML. Loaded on first use: most servers have no such file.
    const { parse } = await import("yaml");
    entries = parse(readFileSync(file, "utf8"), { schema: "core", maxAliasCount: 0 });
  } catch (error) {
    throw error instanceof ConfigError ? error : wrong("cannot be read as YAML or JSON", error);
  }
  if (!Array.isArray(entries)) throw wrong("must be a list of feeds");
  const feeds: FeedDefinition[] = [];
  for (const [at, entry] of entries.entries()) {
    const shown = isObject(entry) && typeof entry["name"] === "string" ? ` (${entry["name"]})` : "";
    try {
      const feed = definitionOf(entry, { allowPrivateNetwork });
      if (feeds.some(({ name }) => name === feed.name)) throw new FeedDefinitionError("name: is there already");
      feeds.push(feed);
    } catch (error) {
      throw error instanceof FeedDefinitionError ? wrong(`feed ${at + 1}${shown}: ${error.message}`, error) : error;
    }
  }
  return feeds;
}

/** Sets the feeds of the file. Throws a ConfigError when one of them cannot be what it says. */
export async function keepFeeds(
  transactor: Pick<Transactor, "write">,
  feeds: FeedDefinition[] | undefined,
  nowMs: number,
): Promise<void> {
  if (feeds === undefined) return;
  try {
    await transactor.write(putFeeds, systemCall(nowMs), { feeds, origin: "file", mustBeNew: false });
  } catch (error) {
    const isOperators = error instanceof MoorageError && error.code === Code.FailedPrecondition;
    throw isOperators ? settingError("feedsFile", error.message, { cause: error }) : error;
  }
}

/** The feed that texts describe, as they stand in the file or on a command line. Throws a FeedDefinitionError. */
export function definitionOf(entry: unknown, rules: { allowPrivateNetwork: boolean }): FeedDefinition {
  if (!isObject(entry)) throw new FeedDefinitionError("must be an object");
  const unknown = Object.keys(entry).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) throw new FeedDefinitionError(`${unknown}: there is no such field`);
  const textOf = (field: string, fallback: string): string => {
    const value = entry[field] ?? fallback;
    if (typeof value !== "string") throw new FeedDefinitionError(`${field}: must be a text`);
    return value;
  };
  const textsOf = (field: string): string[] => {
    const value = entry[field] ?? [];
    if (!Array.isArray(value) || value.some((each) => typeof each !== "string"))
      throw new FeedDefinitionError("must be a list of texts", field);
    return value as string[];
  };
  const interval = textOf("interval", "");
  const intervalMs = interval === "" ? DEFAULT_FEED_INTERVAL_MS : parseDuration(interval);
  if (intervalMs === undefined)
    throw new FeedDefinitionError(`interval: must be a duration such as 6h or 1d, not ${interval}`);
  return checkedDefinition(
    {
      name: textOf("name", ""),
      format: textOf("format", ""),
      address: textOf("address", ""),
      licence: textOf("licence", ""),
      intervalMs,
      products: textsOf("products"),
      covers: textsOf("covers"),
    },
    rules,
  );
}
