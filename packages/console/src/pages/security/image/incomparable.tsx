import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { getCoverage } from "../../../api/gen/vulnerabilities.ts";
import { query } from "../../../api/queries.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";

/** The packages of an image whose versions cannot be compared with those of records: how many, and which. */
export function NotCompared({ repo, digest, count }: { repo: string; digest: string; count: number }) {
  const [isOpen, setOpen] = useState(false);
  if (count === 0) return null;
  return (
    <details role="note" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {count === 1 ? "1 package has a version" : `${count} packages have versions`} that cannot be compared with those
        of records: whether a vulnerability hits {count === 1 ? "it" : "them"} is not known.
      </summary>
      {isOpen && <Packages repo={repo} digest={digest} count={count} />}
    </details>
  );
}

function Packages({ repo, digest, count }: { repo: string; digest: string; count: number }) {
  const { data, error } = useQuery(query(getCoverage, { repoUid: repo, digest }));
  const packages = data?.images.flatMap(({ packagesNotCompared }) => packagesNotCompared);
  const purls = packages && [...new Set(packages.map(({ purl }) => purl))];
  return (
    <>
      <ErrorNote error={error} />
      {data === undefined && error === null && <p role="status">Reading which…</p>}
      <ul>
        {purls?.map((purl) => (
          <li key={purl}>
            <code>{purl}</code>
          </li>
        ))}
      </ul>
      {purls !== undefined && purls.length < count && <p>{count - purls.length} more are not listed.</p>}
    </>
  );
}
