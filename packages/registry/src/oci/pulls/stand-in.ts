import { isReservedTag } from "../../registry/index.ts";
import { checkTimeOf, type StandIn } from "../../upstreams/index.ts";
import { isDigest, isTag } from "../digests.ts";
import { type PullPlace, nameUnknown } from "../names.ts";
import type { Exchange } from "../request.ts";
import type { Answerable } from "./gate.ts";

/** A manifest that is answered. */
export interface AnsweredManifest {
  pulled: Answerable;
  /** The uid of its repo. */
  repo: string;
  /** Whether it is that of the reference until something changes here. */
  isCurrent: boolean;
  /** What its registry gives cause to say. */
  warning: string;
}

/**
 * The manifest that is answered for a tag or digest below a group that stands for another registry, for a caller who
 * may pull it: what is here, or what the registry has. The answer, also that there is none, says by Cache-Status where
 * it is from. Undefined when there is none.
 */
export async function manifestOfStandIn(
  exchange: Exchange,
  place: PullPlace & { standIn: StandIn },
  reference: string,
  local: Answerable | undefined,
): Promise<AnsweredManifest | undefined> {
  const { deps, data, res, callData, name } = exchange;
  const isKnownForm = isDigest(reference) || (isTag(reference) && !isReservedTag(reference));
  const { repo } = place;
  if (deps.standIns === undefined || !isKnownForm)
    return local && repo !== undefined ? { pulled: local, repo, isCurrent: true, warning: "" } : undefined;
  const byDigest = isDigest(reference);
  const checkMs =
    local === undefined || repo === undefined || byDigest
      ? undefined
      : await deps.transactor.read(callData, (call) => checkTimeOf(call.tx, repo, reference));
  data.turn?.end();
  const held = local && { digest: local.digest, checkMs };
  const answer = await deps.standIns.manifest({ place, reference, held });
  res.setHeader("cache-status", answer.cacheStatus);
  const { manifest, warning } = answer;
  if (answer.repo === undefined) throw nameUnknown(name);
  const pulled =
    manifest === "held"
      ? local
      : manifest && { digest: manifest.digest, media_type: manifest.manifest.mediaType, content: manifest.content };
  return pulled && { pulled, repo: answer.repo, isCurrent: byDigest, warning };
}
