import { useQuery } from "@tanstack/react-query";
import { listImageSignatures } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { signedWords } from "./signed-words.ts";

const FRESH_MS = 60_000;

export interface SignedBadgeProps {
  /** The path of the image. */
  repo: string;
  repoUid: string;
  digest: string;
  /** What the title calls the version. */
  subject: "this version" | "the newest version";
}

/** Whether a signer has signed a version. Nothing where the person may not see its signatures. */
export function SignedBadge({ repo, repoUid, digest, subject }: SignedBadgeProps) {
  const { data } = useQuery({
    ...query(listImageSignatures, { repoUid, digest }),
    retry: false,
    staleTime: FRESH_MS,
  });
  if (data === undefined) return null;
  const { word, look, title } = signedWords(data, subject);
  return (
    <a href={`/image?name=${encodeURIComponent(`${repo}@${digest}`)}&part=signatures`} title={title}>
      <Badge look={look}>{word}</Badge>
    </a>
  );
}
