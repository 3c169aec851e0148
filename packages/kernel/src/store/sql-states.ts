import type { StorageReason } from "../errors.ts";

/** What an error of PostgreSQL means for whoever asked. */
export interface SqlStateMeaning {
  /**
   * What may help: the transaction once more (`collision`: others changed the same; `shortage`: the server lacks
   * something that others give back), or on another connection. Undefined when nothing but time does.
   */
  retry?: "collision" | "connection" | "shortage";
  /** Whether it may be a defect of this program as well: see TransientError. */
  mayBeDefect?: boolean;
  /** The fault to answer with when retries did not help; none for collisions. */
  reason?: StorageReason;
}

const UNREACHABLE: SqlStateMeaning = { retry: "connection", reason: "unreachable" };
const READ_ONLY: SqlStateMeaning = { retry: "connection", reason: "read_only" };
const TOO_BUSY: SqlStateMeaning = { reason: "overloaded" };
const DENIED: SqlStateMeaning = { reason: "denied" };
const DAMAGED: SqlStateMeaning = { reason: "damaged" };

// SQLSTATE codes, and classes by their first two characters. Source: PostgreSQL's documentation, appendix A.
const MEANINGS: Readonly<Record<string, SqlStateMeaning>> = {
  "08": UNREACHABLE,
  // A transaction in a session that waited for us for too long, as after this process was frozen: the session is over.
  "25P03": UNREACHABLE,
  "25P04": UNREACHABLE,
  // After a failover to a standby, which may take writes a moment later.
  "25006": READ_ONLY,
  // Where a transaction looked by another index than the one that is violated, PostgreSQL does not see that its look
  // and another's insert collide. Source: its documentation, "Serialization Failure Handling".
  "23505": { retry: "collision", mayBeDefect: true },
  "28": DENIED,
  "3D000": { retry: "connection", reason: "missing" },
  "40001": { retry: "collision" },
  "40P01": { retry: "collision" },
  "42501": DENIED,
  "53000": { retry: "shortage", reason: "overloaded" },
  "53100": { reason: "full" },
  "53200": { retry: "shortage", reason: "out_of_memory" },
  "53300": { retry: "connection", reason: "connections" },
  "53400": { retry: "shortage", reason: "overloaded" },
  "55P03": TOO_BUSY,
  "57014": TOO_BUSY,
  "57P01": UNREACHABLE,
  "57P02": UNREACHABLE,
  "57P03": UNREACHABLE,
  "57P04": { retry: "connection", reason: "missing" },
  "57P05": UNREACHABLE,
  "58": { reason: "io_error" },
  XX001: DAMAGED,
  XX002: DAMAGED,
};

/**
 * The meaning of an error by its SQLSTATE; of some codes the message is needed too. Undefined for what is a defect of
 * this program, or of its statement.
 */
export function meaningOfSqlState(code: string, message: string): SqlStateMeaning | undefined {
  // A plan from before a migration; and what a standby says to the first transaction.
  if (code === "0A000") {
    if (message.includes("cached plan")) return { retry: "collision" };
    return message.includes("hot standby") ? READ_ONLY : undefined;
  }
  // The memory for locks is the server's, and small: what others hold in it counts, such as a transaction that somebody
  // forgot. Out of other memory it says so.
  if (code === "53200" && message.includes("shared memory")) return { retry: "shortage", reason: "lock_memory" };
  return MEANINGS[code] ?? MEANINGS[code.slice(0, 2)];
}
