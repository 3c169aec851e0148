import type { Config } from "@moorage/kernel/config";
import { resolveRepository } from "@moorage/kernel/core/image-path";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { StoreError } from "@moorage/kernel/store";
import { type Collected, collectGarbage } from "@moorage/registry/oci";
import { openBlobsOf } from "../installation/stores.ts";
import { withWriter } from "./open-writer.ts";

export interface GcOptions {
  /** Only counts what would be removed. Source: AIP-163. */
  dryRun: boolean;
  /** The only image to collect, such as `acme/team/api`. Defaults to all, and to blobs that no repo holds. */
  repo?: string | undefined;
  /** Replaces the setting, in milliseconds. */
  graceMs?: number | undefined;
  /** Called for each repo in which something was removed, with the image's path. */
  onRepo?(name: string, collected: Collected): void;
  /** Ends the collection between two steps, and it rejects then. */
  signal?: AbortSignal;
}

/**
 * Collects garbage once, as the server does periodically; servers may run, on either engine. Throws a StoreError in one
 * line when there is no installation, or no such repo.
 */
export async function collectInstallation(config: Config, options: GcOptions): Promise<Collected> {
  return await withWriter(config, async ({ writer }) => {
    const blobs = await openBlobsOf(config);
    const repo = options.repo === undefined ? undefined : await uidOf(writer, options.repo);
    return await collectGarbage(
      { transactor: writer, blobs },
      {
        nowMs: Date.now(),
        graceMs: options.graceMs ?? config.gcGraceMs,
        uploadTtlMs: config.uploadTtlMs,
        repo,
        dryRun: options.dryRun,
        signal: options.signal ?? new AbortController().signal,
        ...(options.onRepo && { onRepo: options.onRepo }),
      },
    );
  });
}

async function uidOf(transactor: Transactor, name: string): Promise<string> {
  const data = systemCall(Date.now());
  const { repo } = await transactor.read(data, (call) => resolveRepository(call, name));
  if (repo === undefined) throw new StoreError(`there is no image ${name}`);
  return repo;
}
