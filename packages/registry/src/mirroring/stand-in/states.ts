import { noteUpstream, rateIn, type RegistryRate, type StandIn, type UpstreamNote } from "../../upstreams/index.ts";
import { type MirrorDeps, mirrorCall } from "../context.ts";
import { UpstreamError } from "../errors.ts";
import type { Guard } from "../request.ts";

/** What is known of a registry, by what it answered lately. */
interface State {
  heldUntilMs: number;
  rate: RegistryRate | undefined;
  lastError: string;
  /** When a success, an error and a limit were last noted, in milliseconds since 1970. */
  notedMs: { success: number; error: number; rate: number };
}

/** What registries that groups stand for say of their limits and errors, in this process and in the database. */
export interface UpstreamStates {
  /** Until when nothing is asked of the registry, in milliseconds since 1970; undefined when it may be asked. */
  heldUntil(standIn: StandIn): number | undefined;
  /** Whether only what is missing here is to be asked: there are few requests left. */
  isScarce(standIn: StandIn): boolean;
  /** Looks at all requests to the registry. */
  guard(standIn: StandIn): Guard;
  /** Waits until all is noted. */
  settled(): Promise<void>;
}

type StateDeps = Pick<MirrorDeps, "transactor" | "clock" | "log">;

const FEW = 10;
/** How long a registry is not asked that says 429 and not how long. */
const DEFAULT_HOLD_MS = 60_000;
const SUCCESS_EVERY_MS = 60_000;
const NOTE_EVERY_MS = 10_000;
const MAX_ERROR = 1_000;
const MAX_STATES = 10_000;

export function createUpstreamStates(deps: StateDeps): UpstreamStates {
  return new States(deps);
}

class States implements UpstreamStates {
  readonly #deps: StateDeps;
  readonly #states = new Map<string, State>();
  readonly #writes = new Set<Promise<void>>();

  constructor(deps: StateDeps) {
    this.#deps = deps;
  }

  heldUntil(standIn: StandIn): number | undefined {
    const { heldUntilMs } = this.#of(standIn);
    return this.#deps.clock.nowMs() < heldUntilMs ? heldUntilMs : undefined;
  }

  isScarce(standIn: StandIn): boolean {
    const { rate } = this.#of(standIn);
    return rate !== undefined && rate.remaining < FEW && this.#deps.clock.nowMs() < rate.resetMs;
  }

  guard(standIn: StandIn): Guard {
    return {
      before: () => {
        const untilMs = this.heldUntil(standIn);
        if (untilMs === undefined) return;
        const retryAfterMs = untilMs - this.#deps.clock.nowMs();
        throw new UpstreamError("limited", `${standIn.registry} limits us`, { retryAfterMs, status: 429 });
      },
      answered: (status, headers) => this.#answered(standIn, status, rateIn(headers, this.#deps.clock.nowMs())),
      failed: (error) => this.#failed(standIn, error),
    };
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }

  /** The state, with what other processes have noted since. */
  #of({ uid, credential, heldUntilMs, rate, lastError }: StandIn): State {
    // Another user has another limit.
    const key = `${uid} ${credential}`;
    const known = this.#states.get(key);
    if (known !== undefined) {
      known.heldUntilMs = Math.max(known.heldUntilMs, heldUntilMs);
      return known;
    }
    // Upstreams are few: a registry that is asked again is known from its row.
    if (this.#states.size >= MAX_STATES) this.#states.clear();
    const made = { heldUntilMs, rate, lastError, notedMs: { success: 0, error: 0, rate: 0 } };
    this.#states.set(key, made);
    return made;
  }

  #answered(standIn: StandIn, status: number, rate: RegistryRate | undefined): void {
    const state = this.#of(standIn);
    const nowMs = this.#deps.clock.nowMs();
    const note: UpstreamNote = { uid: standIn.uid };
    if (rate !== undefined) {
      const isNews = rate.remaining < FEW !== (state.rate?.remaining ?? FEW) < FEW;
      state.rate = rate;
      if (isNews || nowMs - state.notedMs.rate >= NOTE_EVERY_MS) {
        state.notedMs.rate = nowMs;
        note.rate = rate;
      }
    }
    const succeeded = status < 400 || status === 404;
    if (succeeded && (state.lastError !== "" || nowMs - state.notedMs.success >= SUCCESS_EVERY_MS)) {
      state.notedMs.success = nowMs;
      note.succeeded = true;
      if (state.lastError !== "") note.error = state.lastError = "";
    }
    this.#write(note);
  }

  #failed(standIn: StandIn, error: unknown): void {
    if (!(error instanceof UpstreamError)) return;
    const { kind, status, message, retryAfterMs } = error;
    // Registries answer so to names that do not exist: it says nothing of the registry.
    if (kind === "refused" && status !== undefined) return;
    const state = this.#of(standIn);
    const nowMs = this.#deps.clock.nowMs();
    const note: UpstreamNote = { uid: standIn.uid };
    if (kind === "limited" && state.heldUntilMs <= nowMs)
      note.heldUntilMs = state.heldUntilMs = Math.round(nowMs + (retryAfterMs ?? DEFAULT_HOLD_MS));
    if (note.heldUntilMs !== undefined || state.lastError === "" || nowMs - state.notedMs.error >= NOTE_EVERY_MS) {
      state.notedMs.error = nowMs;
      note.error = state.lastError = message.slice(0, MAX_ERROR);
    }
    this.#write(note);
  }

  #write(note: UpstreamNote): void {
    if (Object.keys(note).length === 1) return;
    const { transactor, log } = this.#deps;
    const written = transactor
      .write(noteUpstream, mirrorCall(this.#deps), note)
      .catch((err: unknown) => log.warn({ err }, "what a registry answered was not noted"))
      .finally(() => this.#writes.delete(written));
    this.#writes.add(written);
  }
}
