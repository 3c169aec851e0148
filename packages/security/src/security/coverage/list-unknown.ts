import { KnowledgeState, type ListUnknownImagesRequest, ListUnknownImagesRequestSchema } from "@moorage/api/messages";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { openPosition, pagedBy, sealPosition } from "@moorage/kernel/aip/positions";
import type { Scope } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type ImageName, nameOf, type TagsOfImage, tagsOfImages } from "../images/images.ts";
import { platformsOfImages } from "../images/platforms.ts";
import { imagesByRepo } from "../images/walk.ts";
import { FeedStates } from "./compared-feeds.ts";
import { manifestOf } from "./images.ts";
import { type ImageKnowledge, knowledgeOf } from "./image-knowledge.ts";

/** An image of a repo whose findings are not known. */
export interface UnknownImageOfRepo extends ImageName {
  tags: TagsOfImage;
  /** As an index names it; empty where none does. */
  platform: string;
  known: ImageKnowledge;
}

const MAX_PAGE_SIZE = 200;
// A page ends after so many images were judged, and after so many were looked at.
const MAX_JUDGED = 200;
const MAX_LOOKED = 5_000;

/** A page of the images of a scope that tags point to and whose findings are not known, by repos and digests. */
export async function listUnknownImages(
  call: Call,
  key: Uint8Array,
  request: ListUnknownImagesRequest,
  scope: Scope,
): Promise<{ rows: UnknownImageOfRepo[]; nextPageToken: string }> {
  if (request.pageSize < 0) throw invalidArgument({ field: "page_size", description: "must not be negative" });
  const { tx } = call;
  const size = Math.min(request.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const paged = pagedBy(ListUnknownImagesRequestSchema, request, "filter");
  const [repo = "", digest = ""] = (openPosition(call, key, paged, request.pageToken) ?? []).map(String);
  const from: ImageName = { repo, digest };
  const rows: UnknownImageOfRepo[] = [];
  let [position, judged, looked] = [from, 0, 0];
  const page = (isMore: boolean) => ({
    rows,
    nextPageToken: isMore ? sealPosition(call, key, paged, [position.repo, position.digest]) : "",
  });
  const feeds = new FeedStates(tx);
  const turn = createTurns();
  for await (const { images, last } of imagesByRepo(tx, scope, from)) {
    if (looked >= MAX_LOOKED) return page(true);
    const tags = await tagsOfImages(tx, images);
    const tagged = images.filter((image) => tags.has(nameOf(image)));
    const platforms = await platformsOfImages(tx, tagged);
    for (const image of tagged) {
      // The image at which the page before ended is among them.
      if (image.repo === from.repo && image.digest === from.digest) continue;
      if (rows.length === size || judged === MAX_JUDGED) return page(true);
      judged += 1;
      const known = await knowledgeOf(tx, image, await manifestOf(tx, image), feeds);
      position = image;
      await turn();
      call.requireCaller();
      if (known === undefined || known.state === "READ") continue;
      if (request.state !== KnowledgeState.UNSPECIFIED && KnowledgeState[known.state] !== request.state) continue;
      const name = nameOf(image);
      rows.push({ ...image, known, tags: tags.get(name) ?? { names: [], total: 0 }, platform: platforms.get(name) ?? "" });
    }
    position = last;
    looked += images.length;
  }
  return page(false);
}
