import { globSync, rmSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBucket } from "../../../kernel/src/blobs/s3-bucket.ts";
import { parseS3Url } from "../../../kernel/src/blobs/s3-url.ts";

/** Spoils stored content behind the server's back, as a broken disk or somebody with access to the bucket does. */
export interface StoredContent {
  /** Puts what `change` makes of it in the place of the content; undefined removes it. */
  change(digest: string, change: (content: Buffer) => Buffer | undefined): Promise<void>;
  /** How many copies of it there are. */
  copies(digest: string): Promise<number>;
}

export function contentInFiles(dataDir: string): StoredContent {
  const pathsOf = (digest: string): string[] => {
    const [algorithm = "", hex = ""] = digest.split(":");
    return globSync(join(dataDir, "blobs", algorithm, hex.slice(0, 2), `${hex}.*`));
  };
  return {
    async change(digest, change) {
      for (const path of pathsOf(digest)) {
        const changed = change(readFileSync(path));
        if (changed === undefined) rmSync(path);
        else writeFileSync(path, changed);
      }
    },
    copies: async (digest) => pathsOf(digest).length,
  };
}

export function contentInS3(url: string): StoredContent {
  const location = parseS3Url(url);
  const bucket = openBucket(location);
  const keysOf = async (digest: string): Promise<string[]> => {
    const [algorithm = "", hex = ""] = digest.split(":");
    const keys: string[] = [];
    for await (const { key } of bucket.list(`${location.prefix}blobs/${algorithm}/${hex.slice(0, 2)}/${hex}.`))
      keys.push(key);
    return keys;
  };
  return {
    async change(digest, change) {
      for (const key of await keysOf(digest)) {
        const changed = change(await bucket.getWhole(key));
        if (changed === undefined) await bucket.remove(key);
        else await bucket.put(key, changed);
      }
    },
    copies: async (digest) => (await keysOf(digest)).length,
  };
}
