import { constants, fstatSync, statSync } from "node:fs";
import { copyFile, type FileHandle, link, lstat, open, rm } from "node:fs/promises";
import { invalidArgument } from "../errors.ts";
import { errorCode } from "../lib/error-code.ts";
import type { AdoptedBlob } from "./blob-store.ts";
import { type ContentFile, copyFileInto, openContentFile, unusable } from "./content-file.ts";
import type { WithFilesystemErrors } from "./filesystem-errors.ts";
import type { FilesystemLayout } from "./filesystem-layout.ts";
import { inFolder, syncFile, type Target, targetOf } from "./filesystem-targets.ts";
import type { FilesystemWholes } from "./filesystem-wholes.ts";
import { algorithmOf, hashFile } from "./hash-state.ts";

const CLONE = constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL;
const READABLE_BY_ALL = 0o004;

// Another disk, another owner (fs.protected_hardlinks), too many links, a file system without them.
const NO_LINK = ["EXDEV", "EPERM", "EACCES", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];
const NO_CLONE = [...NO_LINK, "EINVAL", "ENOTTY", "ENOENT"];

/**
 * Makes blobs of files, as in `BlobStore`. What was linked has one inode with the file, and nothing here writes into
 * blobs: they are read, and their names removed.
 */
export class FilesystemAdoption {
  readonly #layout: FilesystemLayout;
  readonly #wholes: FilesystemWholes;
  readonly #withErrors: WithFilesystemErrors;

  constructor(layout: FilesystemLayout, wholes: FilesystemWholes, withErrors: WithFilesystemErrors) {
    this.#layout = layout;
    this.#wholes = wholes;
    this.#withErrors = withErrors;
  }

  async adopt(path: string, { digest, size }: { digest: string; size: number }): Promise<AdoptedBlob> {
    const target = targetOf(this.#layout, digest);
    const how = await this.#shared(path, { digest, size }, target);
    if (how === undefined) return await copyFileInto(this.#wholes, path, { digest, size });
    return { digest, size, generation: target.generation, how };
  }

  async #shared(path: string, blob: { digest: string; size: number }, target: Target) {
    await using source = await openContentFile(path, blob);
    return await this.#withErrors("Blob", blob.digest, async () => {
      if (this.#isReadable(source) && (await linked(source, target))) return "link";
      return (await cloned(source, target)) ? "clone" : undefined;
    });
  }

  /** Whether the owner of the store can read the file, should another one run this. */
  #isReadable({ file }: ContentFile): boolean {
    const { uid, mode } = fstatSync(file.fd);
    return uid === statSync(this.#layout.uploads).uid || (mode & READABLE_BY_ALL) !== 0;
  }
}

/** Links the file, and checks what was linked. False where it cannot be. */
async function linked(source: ContentFile, target: Target): Promise<boolean> {
  if (!(await attempt(NO_LINK, () => inFolder(target.folder, () => link(source.path, target.path))))) return false;
  await keepIf(target, async () => {
    const [opened, there] = [fstatSync(source.file.fd), await lstat(target.path)];
    if (opened.ino !== there.ino || opened.dev !== there.dev) throw unusable("was changed for another one meanwhile");
    await requireContent(source.file, source);
    await syncFile(source.file.fd, target.folder);
  });
  return true;
}

/** Lets the file system share the file's blocks, and checks what came. False where it cannot. */
async function cloned(source: ContentFile, target: Target): Promise<boolean> {
  // By what was opened, whatever has the name by now.
  const from = process.platform === "linux" ? `/proc/self/fd/${source.file.fd}` : source.path;
  if (!(await attempt(NO_CLONE, () => inFolder(target.folder, () => copyFile(from, target.path, CLONE))))) {
    await rm(target.path, { force: true });
    return false;
  }
  await keepIf(target, async () => {
    await using file = await open(target.path, constants.O_RDONLY | constants.O_NOFOLLOW);
    await requireContent(file, source);
    await syncFile(file.fd, target.folder);
  });
  return true;
}

async function attempt(expected: readonly string[], work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (expected.includes(String(errorCode(error)))) return false;
    throw error;
  }
}

/** Removes the blob's file again when the work fails. */
async function keepIf({ path }: Target, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Reads as many bytes as there should be, and no more. */
async function requireContent(file: FileHandle, { digest, size }: ContentFile): Promise<void> {
  const algorithm = algorithmOf(digest);
  const { hash } = await hashFile(file, size, algorithm).catch((error: unknown) => {
    throw errorCode(error) === undefined ? unusable("became shorter while it was read") : error;
  });
  if (fstatSync(file.fd).size !== size) throw unusable("changed while it was read");
  if (`${algorithm}:${hash.digest("hex")}` !== digest)
    throw invalidArgument({ field: "digest", description: "is not the digest of the content" });
}
