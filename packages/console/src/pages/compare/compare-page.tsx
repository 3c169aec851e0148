import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { repoByPathQuery } from "../../api/repo-by-path.ts";
import { bytes, count } from "../../lib/bytes.ts";
import { shortDigest } from "../../lib/digest.ts";
import { Note } from "../../ui/note.tsx";
import { Card, Facts, Page, Section } from "../../ui/page.tsx";
import { ImageDifferences } from "./image-differences.tsx";
import { splitReference } from "./names.ts";
import { PackageChanges } from "./package-changes.tsx";
import { diffQuery } from "./queries.ts";
import { VulnerabilityChanges } from "./vulnerability-changes.tsx";

const here = getRouteApi("/shell/compare");

/** What differs between two points of a repo: packages, vulnerabilities, configuration, layers, size. */
export function ComparePage() {
  const { from = "", to = "" } = here.useSearch();
  const { repo } = splitReference(from);
  const { data: uid } = useSuspenseQuery(repoByPathQuery(repo));
  const pages = useSuspenseInfiniteQuery(diffQuery(uid, from, to));
  const [first] = pages.data.pages;
  if (first === undefined) return null;
  const { addedVulnerabilities, removedVulnerabilities, addedPackages, removedPackages, changedPackages } = first;
  return (
    <Page title="What differs">
      <Card>
        <Facts
          facts={[
            ["From", <Side key="from" repo={repo} side={first.from} />],
            ["To", <Side key="to" repo={repo} side={first.to} />],
            [
              "Packages",
              `${count(addedPackages)} new, ${count(removedPackages)} gone, ${count(changedPackages)} changed`,
            ],
            ["Vulnerabilities", `${count(addedVulnerabilities)} new, ${count(removedVulnerabilities)} gone`],
          ]}
        />
      </Card>
      {!first.packagesComplete && (
        <Note look="warning">
          The packages of one of the images are not known, or not completely: see the platforms below.
        </Note>
      )}
      <Section title="Vulnerabilities">
        <VulnerabilityChanges changes={first.vulnerabilities} isComplete={first.vulnerabilitiesComplete} />
      </Section>
      <Section title="Packages">
        <PackageChanges
          changes={pages.data.pages.flatMap(({ packages }) => packages)}
          total={addedPackages + removedPackages + changedPackages}
          onMore={pages.hasNextPage ? () => void pages.fetchNextPage() : undefined}
          isLoadingMore={pages.isFetchingNextPage}
        />
      </Section>
      {first.platforms.map((platform) => (
        <Section key={platform.platform} title={`The image for ${platform.platform || "any platform"}`}>
          <ImageDifferences diff={platform} />
        </Section>
      ))}
    </Page>
  );
}

interface SideProps {
  repo: string;
  side: { tag: string; digest: string; size: string } | undefined;
}

function Side({ repo, side }: SideProps) {
  if (side === undefined) return "nothing";
  return (
    <>
      {side.tag !== "" && `${side.tag}, `}
      <Link to="/image" search={{ name: `${repo}@${side.digest}` }}>
        {shortDigest(side.digest)}
      </Link>
      , {bytes(side.size)}
    </>
  );
}
