import { setImmediate as nextTurn } from "node:timers/promises";
import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { systemCall } from "@moorage/kernel/core/system-call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { type Exchange, type RegistryDeps, tokenCovers } from "../request.ts";
import { extendGrace, type GraceContent } from "./grace-commands.ts";

/**
 * Whether to renew the grace of content before it is answered: at most once in a quarter of the grace, and only for a
 * caller with the right to push. The answer may be cached for another quarter, so that the client has at least half of
 * the grace left.
 */
export async function needsGrace(
  { deps: { config }, caller, name }: Exchange,
  call: Call,
  repo: string,
  touchedMs: number,
): Promise<boolean> {
  if (config.gcGraceMs === undefined || call.nowMs - touchedMs <= config.gcGraceMs / 4) return false;
  return tokenCovers(caller, name, ["push"]) && (await call.may(Capability.CAP_MANIFEST_CREATE, repo));
}

/**
 * Renews the grace of content before a client is answered that it exists. False when the content was removed meanwhile.
 * When the database accepts no writes, or others change the same all the time, a GET is answered nevertheless, but a
 * HEAD, which precedes a push, fails: with UNAVAILABLE, since a read never conflicts.
 */
export async function renewGrace({ req, deps }: Exchange, content: GraceContent): Promise<boolean> {
  try {
    return await renewalsOf(deps)(content);
  } catch (error) {
    if (
      req.method === "GET" &&
      error instanceof MoorageError &&
      [Code.Unavailable, Code.ResourceExhausted, Code.Aborted].some((code) => code === error.code)
    )
      return true;
    throw error;
  }
}

type Renew = (content: GraceContent) => Promise<boolean>;

interface Waiting {
  content: GraceContent;
  settle: { resolve(isHeld: boolean): void; reject(error: unknown): void };
}

const known = new WeakMap<RegistryDeps, Renew>();

function renewalsOf(deps: RegistryDeps): Renew {
  let renew = known.get(deps);
  if (renew === undefined) known.set(deps, (renew = renewals(deps)));
  return renew;
}

// Below the limit of parameters of every engine.
const MAX_TOGETHER = 256;

/**
 * Renews what requests ask for while a renewal is written in the next one: a client that looks at a whole registry
 * renews the grace of all its content, one command for each would cost more than the answers.
 */
function renewals({ transactor, clock }: RegistryDeps): Renew {
  let waiting: Waiting[] = [];
  let isWriting = false;
  const write = async (): Promise<void> => {
    isWriting = true;
    // What other requests of this turn of the event loop ask for joins the first ones.
    await nextTurn();
    while (waiting.length > 0) {
      const some = waiting.slice(0, MAX_TOGETHER);
      waiting = waiting.slice(MAX_TOGETHER);
      try {
        const contents = some.map(({ content }) => content);
        const gone = new Set((await transactor.write(extendGrace, systemCall(clock.nowMs()), { contents })).gone);
        for (const [at, { settle }] of some.entries()) settle.resolve(!gone.has(at));
      } catch (error) {
        for (const { settle } of some) settle.reject(error);
      }
    }
    isWriting = false;
  };
  return (content) =>
    new Promise((resolve, reject) => {
      waiting.push({ content, settle: { resolve, reject } });
      if (!isWriting) void write();
    });
}
