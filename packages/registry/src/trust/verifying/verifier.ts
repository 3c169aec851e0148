import { processPool, TaskError, type TaskErrorKind } from "@moorage/kernel/lib/process-pool";
import { programFile } from "@moorage/kernel/lib/program-file";
import type { ClaimedSigned } from "../queue/claim-contents.ts";
import type { StatusNeed } from "../verify/statuses.ts";
import type { VerifiedEntry } from "../verify/types.ts";

/** Where blobs are: all that the verifying processes know of the server. */
export interface VerifierData {
  dataDir: string;
  blobsUrl: string;
  /** The trusted root of Sigstore, as JSON; empty when there is none. */
  sigstoreRoot: string;
  /** Whether authorities are asked about certificates: MOORAGE_REVOCATION. */
  isAsking: boolean;
}

/** The signatures of a manifest. */
export interface VerifiedManifest {
  entries: VerifiedEntry[];
  /** The certificates on which they depend, whose authorities are to be asked about them. */
  needs: StatusNeed[];
}

/** Why there is no answer. `isFinal`: there would be none another time either. */
interface NotVerified {
  reason: string;
  isFinal: boolean;
}

/**
 * Verifies manifests with signatures in a process of its own, which starts when there is something to verify and ends
 * when there was nothing for a while. What takes too long is killed, as is what `signal` ends: that answers undefined.
 */
export interface Verifier {
  verify(
    claimed: ClaimedSigned,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<VerifiedManifest | NotVerified | undefined>;
  /** Kills the process; waits a second at most. */
  stop(): Promise<void>;
}

const MAX_HEAP_MIB = 1_024;
const IDLE_MS = 30_000;
/** How long one signature may take, and a manifest beside its signatures, in milliseconds. */
const SIGNATURE_MS = 1_000;
const MANIFEST_MS = 10_000;
const LOWEST_PRIORITY = 19;
/** What the client of S3 reads from the environment: its credentials and whom it trusts. */
const S3_ENVIRONMENT = ["PATH", "HOME", "NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR"];

export function createVerifier(data: VerifierData, died: (reason: string, kind: TaskErrorKind) => void): Verifier {
  const pool = processPool({
    module: programFile("verify-tasks", import.meta.url),
    size: 1,
    maxHeapMiB: MAX_HEAP_MIB,
    idleMs: IDLE_MS,
    maxWaiting: 1,
    niceness: LOWEST_PRIORITY,
    environment: data.blobsUrl === "" ? [] : s3Environment(),
    data,
    onDeath: died,
  });
  return {
    async verify(claimed, nowMs, signal) {
      const timeoutMs = MANIFEST_MS + claimed.layers.length * SIGNATURE_MS;
      try {
        return await pool.run<VerifiedManifest>("verify", { ...claimed, nowMs }, { timeoutMs, signal });
      } catch (error) {
        if (!(error instanceof TaskError)) throw error;
        return error.kind === "aborted" ? undefined : notVerified(error, timeoutMs);
      }
    },
    stop: () => pool.stop(),
  };
}

function notVerified({ kind, message, isFinal }: TaskError, timeoutMs: number): NotVerified {
  if (kind === "timeout") return { reason: `verifying it took longer than ${timeoutMs} ms`, isFinal: false };
  if (kind === "memory") return { reason: "verifying it took more memory than the process may have", isFinal: true };
  if (kind === "died") return { reason: `the process that verified it ended: ${message}`, isFinal: false };
  return { reason: message, isFinal };
}

function s3Environment(): string[] {
  return [...S3_ENVIRONMENT, ...Object.keys(process.env).filter((name) => name.startsWith("AWS_"))];
}
