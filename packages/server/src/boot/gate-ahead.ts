import {
  type CreateTagRequest,
  type PromoteTagsRequest,
  type RollbackTagsRequest,
  TagsService,
} from "@moorage/api/messages";
import type { Call } from "../core/call.ts";
import type { Transactor } from "../core/transactor.ts";
import { MoorageError } from "../errors.ts";
import { findTag, imagesToJudge, promotedMoves, type PromotedTag, rolledBackMoves } from "../registry/index.ts";
import type { ReadAhead } from "../runtime/dispatch.ts";
import { nameOf } from "../runtime/methods.ts";
import { readAhead } from "../security/index.ts";

/** Reads what gates judge by before the transactions of the methods that move tags. */
export function gateAhead(transactor: Pick<Transactor, "read">): Map<string, ReadAhead> {
  const ahead = <R>(
    repoOf: (request: R) => string,
    movesOf: (call: Call, request: R) => Promise<readonly PromotedTag[]>,
  ): ReadAhead => {
    return async (data, message) =>
      await transactor.read(data, async (call) => {
        const request = message as R;
        try {
          return await readAhead(call, repoOf(request), imagesToJudge(await movesOf(call, request)));
        } catch (error) {
          // The transaction says what is wrong with the call.
          if (error instanceof MoorageError) return {};
          throw error;
        }
      });
  };
  const { createTag, promoteTags, rollbackTags } = TagsService.method;
  return new Map([
    [
      nameOf(createTag),
      ahead<CreateTagRequest>(
        ({ parent }) => parent,
        async (call, { parent, tag }) =>
          tag === undefined
            ? []
            : [{ name: tag.name, digest: tag.digest, place: await findTag(call, parent, tag.name) }],
      ),
    ],
    [nameOf(promoteTags), ahead<PromoteTagsRequest>(({ repoUid }) => repoUid, promotedMoves)],
    [nameOf(rollbackTags), ahead<RollbackTagsRequest>(({ repoUid }) => repoUid, rolledBackMoves)],
  ]);
}
