import type { Database } from "../../../../kernel/src/store/index.ts";

/** What was answered, read whole. */
export interface HeavyAnswer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  /** The length of the body in bytes, and its beginning, or all of it. */
  bytes: number;
  text: string;
}

export interface HeavySend {
  token?: string;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
  /** Keeps all of the answer. */
  whole?: boolean;
  /** Called with its status when the answer begins. */
  began?: (status: number) => void;
}

/**
 * Sends the request. `began`: called with its status when the answer begins. `working`: called when the work has begun
 * that the server does later than it answers; see HeavyInput.isLater.
 */
export type HeavyRequest = (began?: (status: number) => void, working?: () => void) => Promise<HeavyAnswer>;

/** A server in a process of its own with two organizations: one sends what is heavy, the other wants to be served. */
export interface HeavyWorld {
  url: string;
  pid: number;
  dataDir: string;
  /** The organization that sends. */
  organization: { uid: string; name: string };
  /** Tokens of its owner. */
  platform: string;
  registry: string;
  /** One request on a connection of its own. */
  send(method: string, path: string, send?: HeavySend): Promise<HeavyAnswer>;
  /** Pings as somebody of another organization, on a connection that stays open. Rejects unless it is answered. */
  ping(): Promise<void>;
  /** Changes something of another organization, on a connection that stays open. Rejects unless it is answered. */
  change(): Promise<void>;
  /** Changes the database past the API, to put there what takes long to send. */
  write(work: (db: Database) => Promise<void>): Promise<void>;
  /** The sum of a metric over its labels. */
  metric(name: string): Promise<number>;
  /** Begins to measure again. */
  begin(): Promise<void>;
  /** What was measured since: the longest delay of the event loop, and the most memory of all processes. */
  measured(): Promise<{ delayMs: number; peakMib: number }>;
}

/**
 * One kind of text or archive that comes from outside, or that is made of it, at the limits.
 *
 * To add one: write a HeavyInput in a file of this folder that generates it (nothing is read from the network or from
 * disk), name it in inputs.ts, and choose the suite that plays it. `prepare` puts there what the request needs and
 * waits until that was read; the request that it returns may be sent several times, and side by side. Each is played by
 * test/faults/heavy/, which shows that others are served meanwhile, and measured by `npm run bench -- --only heavy`.
 */
export interface HeavyInput {
  /** Such as `an SBOM of 50,000 packages`; the row of the benchmark. */
  title: string;
  /** The statuses that the request may be answered with; others fail. */
  statuses: readonly number[];
  /**
   * How many pings must be answered before it, one after another. Defaults to ten; fewer for what takes no
   * longer than a few of them.
   */
  pings?: number;
  /** What is heavy begins after the request was answered: only pings that are sent meanwhile count. */
  isLater?: boolean;
  /** Whether others write meanwhile, instead of pinging. */
  writes?: boolean;
  /** How many are sent side by side; eight by default, fewer for what takes long. */
  times?: number;
  /** Settings of the server, beside those of all. */
  env?: Record<string, string>;
  prepare(world: HeavyWorld): Promise<HeavyRequest>;
}
