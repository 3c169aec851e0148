import { SyncState } from "@moorage/api/messages";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { ReferrerGaps } from "./referrer-gaps.ts";
import { type CopyResult, createNameList, type FailedTag, MAX_FAILED, type TagFailure } from "./copy-result.ts";
import { quotaOfError } from "../registry/index.ts";
import { UpstreamError } from "./errors.ts";

/** Collects how the tags of a run went. */
export interface CopyLog {
  /**
   * Copies one tag. What goes wrong with it alone is recorded. Throws what concerns the others too: that the source
   * asks to come back later, that it failed for several tags in a row, and errors of this server. `before`: the digest
   * that the tag has here; empty when it is not here.
   */
  copy<T>(tag: string, before: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Records a tag that could not be copied. */
  failed(tag: string, failure: TagFailure, reason: string): void;
  /** Records a tag that the source deleted while it was copied. */
  gone(tag: string): void;
  /** Records a tag that was moved or deleted here and stays so. */
  kept(tag: string): void;
  /** Records a digest of an imported history that the source has no longer. */
  lost(digest: string): void;
  /** The result. `error`: what ended the copying early, or kept the list from being read to its end. */
  result(of: { tagsSeen?: number; isEmpty?: boolean; note?: string; error?: UpstreamError }): CopyResult;
}

// After so many tags in a row the source is taken to be away, or to refuse all, and the rest waits for the next run.
// One that is away costs more time for each tag.
const MAX_IN_A_ROW = { unreachable: 3, refused: 20 };

export function createCopyLog(gaps: ReferrerGaps, signal: AbortSignal): CopyLog {
  const failures: FailedTag[] = [];
  const counts = new Map<TagFailure | "referrers", number>();
  const [failed, stuck, gone, bare] = [createNameList(), createNameList(), createNameList(), createNameList()];
  const [unsigned, kept, lost] = [createNameList(), createNameList(), createNameList()];
  const inARow = { unreachable: 0, refused: 0 };
  const fail: CopyLog["failed"] = (tag, failure, reason) => {
    failed.add(`${tag} (${reason})`);
    counts.set(failure, (counts.get(failure) ?? 0) + 1);
    if (failures.length < MAX_FAILED) failures.push({ tag, failure, reason });
  };

  /** The source has content, so that it is neither away nor refuses all. */
  const answered = (): void => {
    inARow.unreachable = 0;
    inARow.refused = 0;
  };
  /** Records the error when it concerns this tag alone. Rethrows any other. */
  const record = (tag: string, before: string, error: unknown): void => {
    // What meets a quota ends the run: its other tags would, too.
    if (signal.aborted || quotaOfError(error) !== undefined) throw error;
    if (error instanceof UpstreamError && error.kind !== "limited") {
      fail(tag, error.kind, error.message);
      if (error.kind === "wrong") answered();
      else if (++inARow[error.kind] >= MAX_IN_A_ROW[error.kind]) throw error;
    } else if (error instanceof MoorageError && error.code === Code.FailedPrecondition) {
      const isUnsigned = error.details.preconditionViolations?.some(({ type }) => type === "SIGNATURE_POLICY") === true;
      if (before === "") fail(tag, "policy", error.message);
      else if (isUnsigned) unsigned.add(`${tag} (${error.message})`);
      else stuck.add(tag);
    } else if (error instanceof MoorageError && error.code === Code.InvalidArgument) fail(tag, "policy", error.message);
    else throw error;
  };

  return {
    failed: fail,
    gone: (tag) => gone.add(tag),
    kept: (tag) => kept.add(tag),
    lost: (digest) => lost.add(digest),
    async copy(tag, before, work) {
      const gapsBefore = gaps.count;
      try {
        const done = await work();
        answered();
        return done;
      } catch (error) {
        record(tag, before, error);
        return undefined;
      } finally {
        if (gaps.count > gapsBefore) bare.add(`${tag} (${gaps.last})`);
      }
    },
    result({ tagsSeen, isEmpty = false, note = "", error }) {
      const parts = [
        // An error that a tag names already is not repeated.
        error !== undefined && !failures.some(({ reason }) => reason === error.message) ? error.message : "",
        failed.text("tag", "could not be copied"),
        note,
        stuck.text("tag", "moved at the source and must stay as they are here"),
        unsigned.text("tag", "moved at the source, and a policy of signatures keeps them as they are here"),
        bare.text("tag", "came without all that refers to them, such as signatures"),
        gone.text("tag", "deleted at the source during the turn"),
        kept.text("tag", "moved here, which stays so"),
        lost.text("digest", "of the history that the source no longer has"),
      ];
      const isFailed = error !== undefined || failed.count > 0;
      return {
        state: error?.kind === "limited" ? SyncState.RATE_LIMITED : isFailed ? SyncState.FAILED : SyncState.SUCCEEDED,
        message: parts.filter((text) => text !== "").join("; "),
        ...(tagsSeen !== undefined && { tagsSeen }),
        isEmpty: isEmpty && !isFailed,
        failed: failures,
        failedCount: failed.count,
        counts: bare.count > 0 ? new Map([...counts, ["referrers", bare.count]]) : counts,
        retryAfterMs: error?.retryAfterMs,
        ...(error && { error }),
      };
    },
  };
}
