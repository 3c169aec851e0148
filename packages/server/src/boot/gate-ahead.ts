import {
  type CreateTagRequest,
  type ImportMovesRequest,
  type PromoteTagsRequest,
  type RollbackTagsRequest,
  TagsService,
} from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { MoorageError } from "@moorage/kernel/errors";
import {
  findTag,
  gatesPromotions,
  imagesToJudge,
  importedEnds,
  promotedMoves,
  type PromotedTag,
  rolledBackMoves,
} from "@moorage/registry/registry";
import { readAhead } from "@moorage/security/security";
import type { ReadAhead } from "../runtime/dispatch.ts";
import { nameOf } from "../runtime/methods.ts";

/** Reads what gates judge by before the transactions of the methods that move tags. */
export function gateAhead(transactor: Pick<Transactor, "read">): Map<string, ReadAhead> {
  const ahead = <R>(
    repoOf: (request: R) => string,
    movesOf: (call: Call, request: R) => Promise<readonly PromotedTag[]>,
  ): ReadAhead => {
    return async (data, message) =>
      await transactor.read(data, async (call) => {
        const request = message as R;
        const repo = repoOf(request);
        // Most repos have no gate: only their policy is read.
        if (!(await gatesPromotions(call.tx, repo))) return {};
        try {
          return await readAhead(call, repo, imagesToJudge(await movesOf(call, request)));
        } catch (error) {
          // The transaction says what is wrong with the call.
          if (error instanceof MoorageError) return {};
          throw error;
        }
      });
  };
  const { createTag, importMoves, promoteTags, rollbackTags } = TagsService.method;
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
    [nameOf(importMoves), ahead<ImportMovesRequest>(({ repoUid }) => repoUid, importedEnds)],
    [nameOf(promoteTags), ahead<PromoteTagsRequest>(({ repoUid }) => repoUid, promotedMoves)],
    [nameOf(rollbackTags), ahead<RollbackTagsRequest>(({ repoUid }) => repoUid, rolledBackMoves)],
  ]);
}
