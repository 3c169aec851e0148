// Content that is on this machine comes without its bytes: the server's storage links it. That of a bucket is copied.
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { AdoptedFile, Adopter } from "@moorage/server";
import type { FolderContent, FolderReader } from "./folder-content.ts";
import { ItemFailure } from "./item-failure.ts";
import { SourceError } from "./source-error.ts";

const OTHER_INSTALLATION =
  "the installation on this machine does not have this repo: --data-dir and the settings of its database name another installation than the server's";

/** How many bytes came how, each blob counted once for each repo that it came to. */
export interface BroughtBytes {
  /** One inode with the folder, or shared blocks: no byte more. */
  linked: number;
  /** On disk twice now. */
  copied: number;
  /** Here before. */
  here: number;
  /** How many digests were not in the folder: the server fetches them where it follows their registry. */
  absent: number;
}

/** Brings content of a folder to repos of the installation on this machine. */
export interface FolderContents {
  reader: FolderReader;
  brought: BroughtBytes;
  /** Brings what the digests need, as far as the folder has it. Throws an ItemFailure. */
  bring(repo: string, digests: readonly string[]): Promise<void>;
  /** Brings the blobs of the content. Answers what is wrong with those that did not come, by digest. */
  hold(repo: string, blobs: FolderContent["blobs"]): Promise<Map<string, string>>;
}

export function openFolderContents(reader: FolderReader, adopter: Adopter): FolderContents {
  const brought: BroughtBytes = { linked: 0, copied: 0, here: 0, absent: 0 };
  const hold: FolderContents["hold"] = async (repo, blobs) => {
    const contents = [...blobs].map(([digest, { place, size }]) => ({ digest, place, size }));
    const done = await adopter.hold(repo, contents).catch((error: unknown) => {
      if (!(error instanceof MoorageError)) throw error;
      const isElsewhere = error.code === Code.NotFound;
      throw new ItemFailure(isElsewhere ? OTHER_INSTALLATION : error.message, { cause: error });
    });
    for (const each of done) count(brought, each);
    return new Map(done.filter(({ how }) => how === "fault").map(({ digest, fault }) => [digest, fault]));
  };
  return {
    reader,
    brought,
    hold,
    async bring(repo, digests) {
      const blobs: FolderContent["blobs"] = new Map();
      for (const digest of digests) {
        try {
          for (const [each, blob] of (await reader.contentOf(digest)).blobs) blobs.set(each, blob);
        } catch (error) {
          if (!(error instanceof SourceError)) throw error;
          brought.absent += 1;
        }
      }
      brought.absent += (await hold(repo, blobs)).size;
    },
  };
}

function count(brought: BroughtBytes, { how, size }: AdoptedFile): void {
  if (how === "here") brought.here += size;
  else if (how === "copy") brought.copied += size;
  else if (how !== "fault") brought.linked += size;
}
