import { fromJsonString } from "@bufbuild/protobuf";
import { type RepoDeprecation, RepoDeprecationSchema } from "@moorage/api/messages";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { statement } from "@moorage/kernel/store";
import { RegistryError } from "../errors.ts";
import type { Exchange } from "../request.ts";
import { type Answerable, isBeforePush, scanOf } from "./gate.ts";

const selectDeprecation = statement<{ deprecation: string | null }>("select deprecation from repos where uid = ?", [
  "text",
]);

/** What a pull of a deprecated repo is answered with. `endsMs`: when it will be rejected, in ms since 1970. */
export interface Deprecated {
  warning: string;
  endsMs?: number | undefined;
}

/**
 * What those who pull are warned of. Undefined for a repo that is not deprecated. Throws DENIED when it is blocked:
 * scanners may read it all the same, and clients that are about to push.
 */
export async function judgeDeprecation(
  exchange: Exchange,
  repo: string,
  pulled: Answerable,
): Promise<Deprecated | undefined> {
  const { deps, callData, name } = exchange;
  // Most repos are not, which is known without another read.
  if (pulled.deprecation === null) return undefined;
  const text =
    pulled.deprecation ??
    (await deps.transactor.read(callData, async ({ tx }) => (await selectDeprecation(tx, repo))[0]?.deprecation));
  if (typeof text !== "string") return undefined;
  const deprecation = fromJsonString(RepoDeprecationSchema, text);
  const endMs = deprecation.endTime === undefined ? undefined : milliseconds(deprecation.endTime);
  const hasEnded = endMs === undefined || endMs <= callData.nowMs;
  const words = describe(name, deprecation, endMs);
  if (!deprecation.block || !hasEnded) return { warning: words, ...(deprecation.block && { endsMs: endMs }) };
  const mayRead =
    scanOf(exchange.caller) !== undefined ||
    (await deps.transactor.read(callData, (call) => isBeforePush(exchange, call, repo)));
  // What it is answered by this way is no answer to a pull, so that it must not be cached.
  if (mayRead) return { warning: words, endsMs: endMs ?? callData.nowMs };
  const metadata = { repository: name, replacement: deprecation.replacement };
  throw new RegistryError("DENIED", words, { detail: metadata, details: { metadata }, isRejection: true });
}

function describe(name: string, { message, replacement, block }: RepoDeprecation, endMs: number | undefined): string {
  const day = endMs === undefined ? "" : new Date(endMs).toISOString().slice(0, 10);
  const end = day === "" ? "" : block ? `pulls are rejected from ${day} on` : `it ends on ${day}`;
  const why = [message, replacement === "" ? "" : `use ${replacement}`, end].filter((part) => part !== "");
  return [`${name} is deprecated`, why.join("; ")].filter((part) => part !== "").join(": ");
}
