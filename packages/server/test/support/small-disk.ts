import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/**
 * Mounts a file system in memory of that many MiB, and returns its folder; `inodes` limits its files. Undefined where
 * none may be mounted: then the test is skipped with the reason.
 */
export function smallDisk(t: TestContext, sizeMiB: number, inodes?: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "moorage-small-disk-"));
  const options = `size=${sizeMiB}m${inodes === undefined ? "" : `,nr_inodes=${inodes}`}`;
  const mounted = mount(t, "-t", "tmpfs", "-o", options, "moorage-test", folder);
  t.after(() => {
    if (mounted) unmount(folder);
    rmSync(folder, { recursive: true, maxRetries: 10 });
  });
  return mounted ? folder : undefined;
}

/**
 * Makes the folder read-only for whatever is opened from now on, until the function that it returns is called. Files
 * that are open stay writable: a disk can only be made read-only as a whole while none is. Undefined where that is not
 * possible: then the test is skipped with the reason.
 */
export function makeReadOnly(t: TestContext, folder: string): (() => void) | undefined {
  if (!mount(t, "--bind", folder, folder)) return undefined;
  let isMounted = true;
  const undo = (): void => {
    if (isMounted) unmount(folder);
    isMounted = false;
  };
  t.after(undo);
  return mount(t, "-o", "remount,bind,ro", folder) ? undo : undefined;
}

function mount(t: TestContext, ...args: string[]): boolean {
  try {
    execFileSync("mount", args, { stdio: "pipe" });
    return true;
  } catch (error) {
    t.skip(`no file system can be mounted here: ${(error as { stderr?: Buffer }).stderr?.toString().trim() ?? ""}`);
    return false;
  }
}

function unmount(folder: string): void {
  execFileSync("umount", ["--lazy", folder], { stdio: "pipe" });
}
