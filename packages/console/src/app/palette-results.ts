import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Identity, listIdentities } from "../api/gen/iam.ts";
import { type Artifact, listArtifacts } from "../api/gen/libraries.ts";
import { search } from "../api/gen/registry.ts";
import { listFindings } from "../api/gen/vulnerabilities.ts";
import { query } from "../api/queries.ts";
import { ALL_ECOSYSTEMS } from "../pages/packages/words.ts";
import { type Hit, hitOf } from "../pages/registry/hit.ts";
import { MIN_LETTERS } from "../pages/registry/queries.ts";

// More do not fit into the list.
const MAX_HITS = 8;
const MAX_OTHERS = 4;
// The API finds people by their whole name alone: letters of it are looked for among so many.
const MAX_PEOPLE = 200;
// Of so many findings the vulnerabilities are shown.
const MAX_FINDINGS = 100;
// What may be a part of an id: `CVE-2024-3`, `GHSA-ab`, `31337`.
const PART_OF_ID = /^(?:[a-z]{2,8}-\d|ghsa-|\d{4,})[\da-z:-]{0,40}$/i;
// A search begins when the typing pauses.
const PAUSE_MS = 200;
const PEOPLE_MS = 60_000;

interface FoundVulnerability {
  id: string;
  /** The alias that the letters are a part of; empty where they are one of the id. */
  alias: string;
}

/** What the server has that the letters may mean. */
export interface FoundThings {
  images: Hit[];
  packages: Artifact[];
  people: Identity[];
  /** Vulnerabilities of images that the person sees, by a part of their id or of an alias. */
  vulnerabilities: FoundVulnerability[];
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
  const isPartOfId = PART_OF_ID.test(asked);
  const findings = useQuery({
    ...query(listFindings, { query: asked, pageSize: MAX_FINDINGS }),
    ...options,
    enabled: enabled && isPartOfId,
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
    vulnerabilities: enabled && isPartOfId ? vulnerabilitiesIn(findings.data?.findings ?? [], letters) : [],
    isPartial:
      enabled &&
      ((isPartOfId && (findings.data?.nextPageToken ?? "") !== "") ||
        [images, packages, people, findings].some(({ isError }) => isError) ||
        (people.data?.nextPageToken ?? "") !== ""),
    isBusy:
      isOn &&
      (text.trim() !== asked || images.isFetching || packages.isFetching || people.isFetching || findings.isFetching),
  };
}

/** The vulnerabilities whose ids, or else aliases, have the letters: each once, at most four. */
export function vulnerabilitiesIn(
  findings: readonly { vulnerability: string; aliases: readonly string[] }[],
  letters: string,
): FoundVulnerability[] {
  const found = new Map<string, FoundVulnerability>();
  for (const { vulnerability: id, aliases } of findings) {
    const isOwn = id.toLowerCase().includes(letters);
    const alias = isOwn ? "" : aliases.find((each) => each.toLowerCase().includes(letters));
    if (alias !== undefined && found.size < MAX_OTHERS) found.set(id, { id, alias });
  }
  return [...found.values()];
}
