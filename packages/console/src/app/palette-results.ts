import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Identity, listIdentities } from "../api/gen/iam.ts";
import { type Artifact, listArtifacts } from "../api/gen/libraries.ts";
import { search } from "../api/gen/registry.ts";
import { query } from "../api/queries.ts";
import { ALL_ECOSYSTEMS } from "../pages/packages/words.ts";
import { type Hit, hitOf } from "../pages/registry/hit.ts";
import { MIN_LETTERS } from "../pages/registry/queries.ts";

// More do not fit into the list.
const MAX_HITS = 8;
const MAX_OTHERS = 4;
// The API finds people by their whole name alone: letters of it are looked for among so many.
const MAX_PEOPLE = 200;
// A search begins when the typing pauses.
const PAUSE_MS = 200;
const PEOPLE_MS = 60_000;

/** What the server has that the letters may mean. */
export interface FoundThings {
  images: Hit[];
  packages: Artifact[];
  people: Identity[];
  /** Whether an answer is still to come. */
  isBusy: boolean;
  /** Whether something could not be searched, or not all of it. */
  isPartial: boolean;
}

/** Looks for images, tags, digests, labels, packages, people and machines; nothing for less than two letters. */
export function useFound(text: string, isOn: boolean): FoundThings {
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const enabled = isOn && asked.length >= MIN_LETTERS && text.trim() !== "";
  const options = { enabled, placeholderData: keepPreviousData, retry: false };
  const images = useQuery({ ...query(search, { query: asked, pageSize: MAX_HITS }), ...options });
  const packages = useQuery({
    ...query(listArtifacts, { query: asked, ecosystems: ALL_ECOSYSTEMS, pageSize: MAX_OTHERS }),
    ...options,
  });
  const people = useQuery({
    ...query(listIdentities, { pageSize: MAX_PEOPLE }),
    enabled,
    retry: false,
    staleTime: PEOPLE_MS,
  });
  const letters = asked.toLowerCase();
  return {
    images: enabled ? (images.data?.results ?? []).map(hitOf) : [],
    packages: enabled ? (packages.data?.artifacts ?? []) : [],
    people: enabled
      ? (people.data?.identities ?? [])
          .filter(({ name, email }) => `${name} ${email}`.toLowerCase().includes(letters))
          .slice(0, MAX_OTHERS)
      : [],
    isPartial:
      enabled &&
      ([images, packages, people].some(({ isError }) => isError) || (people.data?.nextPageToken ?? "") !== ""),
    isBusy: isOn && (text.trim() !== asked || images.isFetching || packages.isFetching || people.isFetching),
  };
}
