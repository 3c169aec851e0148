import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../api/call.ts";
import { ApiError } from "../../../api/errors.ts";
import { listTags } from "../../../api/gen/registry.ts";
import { readRegistry } from "../../../api/registry.ts";
import { repoByPath } from "../../../api/repo-by-path.ts";
import { type Json, jsonOf } from "./json.ts";
import { parseReference, type Reference } from "./reference.ts";

/** An image and where it is. */
export interface Place extends Reference {
  repoUid: string;
}

const ACCEPT = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

/** The image that a reference names; what a tag points to is asked of the API, as pulling it may not be permitted. */
export function placeQuery(text: string) {
  return queryOptions({
    queryKey: ["image", text],
    queryFn: async ({ signal }): Promise<Place> => {
      const reference = parseReference(text);
      const repoUid = await repoByPath(reference.name, { signal });
      if (reference.digest !== "") return { ...reference, repoUid };
      const { tags } = await call(listTags, { uidp: { childrenOf: repoUid }, name: reference.tag }, { signal });
      const digest = tags.find(({ name }) => name === reference.tag)?.digest;
      if (digest !== undefined) return { ...reference, repoUid, digest };
      throw new ApiError(404, { code: "NOT_FOUND", message: `${reference.name} has no tag ${reference.tag}.` });
    },
  });
}

/** A manifest: as it was pushed, and what it says. */
export interface Manifest {
  text: string;
  mediaType: string;
  json: Json;
}

/** The manifest of that digest. What a digest names never changes. */
export function manifestQuery({ name, digest }: Reference) {
  return queryOptions({
    queryKey: ["manifest", name, digest],
    queryFn: async ({ signal }): Promise<Manifest> => {
      const path = `manifests/${encodeURIComponent(digest)}`;
      const { text, mediaType } = await readRegistry(name, path, { accept: ACCEPT, signal });
      return { text, mediaType, json: jsonOf(text) };
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** The configuration of an image: as it was pushed, and what it says. */
export function configQuery(name: string, digest: string) {
  return queryOptions({
    queryKey: ["config", name, digest],
    queryFn: async ({ signal }) => {
      const { text } = await readRegistry(name, `blobs/${encodeURIComponent(digest)}`, { signal });
      return { text, json: jsonOf(text) };
    },
    enabled: digest !== "",
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}
