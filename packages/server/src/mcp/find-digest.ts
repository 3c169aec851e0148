import { TagSchema, TagsService } from "@moorage/api/messages";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { type ImageName, parseTime } from "./image-names.ts";
import type { CallMethod } from "./method-calls.ts";

/** The digest that is named, or what the tag points to, or pointed to at the time. Throws NOT_FOUND. */
export async function digestOf(
  call: CallMethod,
  repoUid: string,
  { path, tag, digest, time }: ImageName,
): Promise<string> {
  if (digest !== "") return digest;
  if (tag === "")
    throw invalidArgument({ field: "image", description: "must name a tag or a digest, as acme/app:1.2" });
  const { moves } = await call(TagsService.method.listTagMoves, {
    repoUid,
    tag,
    pageSize: 1,
    ...(time !== "" && { before: timestamp(parseTime("image", time) + 1) }),
  });
  const found = moves[0]?.digest ?? "";
  if (found === "") throw notFound(TagSchema.typeName, `${path}:${tag}`);
  return found;
}
