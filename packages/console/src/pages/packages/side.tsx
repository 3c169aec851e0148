import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Artifact, ArtifactPolicy } from "../../api/gen/libraries.ts";
import { durationWords } from "../../lib/durations.ts";
import { parentUid } from "../../lib/uid.ts";
import { SideFacts, SidePart } from "../../ui/columns.tsx";
import { Time } from "../../ui/time.tsx";
import { PullCount } from "../registry/pulls/pull-cells.tsx";
import { LastDownload, useDownloads } from "./download-cells.tsx";
import { useGroupPath } from "./group-path.tsx";
import { type FileFacts, fileFactsQuery } from "./file-facts.ts";
import { isReserved, nearest } from "./rules.ts";
import { provenanceWords } from "./provenance-words.ts";
import { policiesOf, upstreamsOf } from "./queries.ts";
import { UsedIn } from "./uses.tsx";
import { ecosystemWord, modeWord } from "./words.ts";

export interface PackageSideProps {
  package_: Artifact;
  /** The path of its group. */
  group: string;
  version: string;
}

/** What explains a package: who uses it, which policy counts, where it is. */
export function PackageSide({ package_, group, version }: PackageSideProps) {
  const { uid, ecosystem, name, createTime } = package_;
  const { data: facts } = useQuery(fileFactsQuery({ ecosystem, group, name, version }));
  const upstreams = useQuery({ ...upstreamsOf(ecosystem), retry: false }).data?.upstreams;
  const downloads = useDownloads([uid]);
  const upstream = upstreams && nearest(parentUid(uid), upstreams);
  return (
    <>
      <UsedIn uid={uid} />
      <Policy package_={package_} />
      {facts !== undefined && (
        <SidePart title="Depends on">
          <Dependencies facts={facts} />
        </SidePart>
      )}
      <SidePart title="About">
        <SideFacts
          facts={[
            [
              "Group",
              <Link key="group" to="/packages" search={{ group: parentUid(uid) }}>
                {group}
              </Link>,
            ],
            ["Registry", ecosystemWord(ecosystem)],
            ["Provenance", facts && ecosystem !== "ECOSYSTEM_JAVA" ? provenanceWords(facts) : undefined],
            [
              "Downloads",
              downloads && (
                <span key="downloads">
                  <PullCount seen={downloads(uid)} /> in 30 days
                </span>
              ),
            ],
            ["Last download", downloads && <LastDownload key="downloaded" seen={downloads(uid)} />],
            ["First published", <Time key="time" value={createTime} />],
            [
              "Upstream",
              upstreams === undefined
                ? "not shown"
                : upstream === undefined
                  ? "none"
                  : isReserved(name, upstream.reservedNames)
                    ? "Name is reserved"
                    : upstream.description || upstream.url,
            ],
          ]}
        />
      </SidePart>
    </>
  );
}

function Dependencies({ facts: { dependencies, moreDependencies = 0 } }: { facts: FileFacts }) {
  if (dependencies === undefined) return <p>Not known: its metadata are in its files alone.</p>;
  if (dependencies.length === 0) return <p>Nothing that its metadata name.</p>;
  return (
    <>
      <ul>
        {dependencies.map((each, at) => (
          <li key={at}>{each}</li>
        ))}
      </ul>
      {moreDependencies > 0 && <p>and {moreDependencies} more</p>}
    </>
  );
}

function Policy({ package_: { uid, ecosystem } }: { package_: Artifact }) {
  const { data, error } = useQuery({ ...policiesOf(ecosystem), retry: false });
  const policy = data && nearest(parentUid(uid), data.artifactPolicies);
  return (
    <SidePart title="Policy" actions={<Link to="/packages/policies">Policies</Link>}>
      {error !== null && <p>You cannot see policies here.</p>}
      {data !== undefined && policy === undefined && <p>None: everyone with access can get every version.</p>}
      {policy !== undefined && <PolicyFacts policy={policy} group={parentUid(uid)} />}
    </SidePart>
  );
}

function PolicyFacts({ policy, group }: { policy: ArtifactPolicy; group: string }) {
  const owner = parentUid(policy.uid);
  const path = useGroupPath(owner);
  const { cooldown, blockMalware, deniedLicenses, allowedLicenses, blockedPurls, mode } = policy;
  return (
    <SideFacts
      facts={[
        ["Mode", modeWord(mode)],
        ["Cooldown", cooldown === undefined ? undefined : `${durationWords(cooldown)}, from upstreams only`],
        ["Malware", blockMalware === false ? "Allowed" : "Blocked"],
        [
          "Licenses",
          [
            ...(allowedLicenses.length > 0 ? [`only ${allowedLicenses.join(", ")}`] : []),
            ...(deniedLicenses.length > 0 ? [`no ${deniedLicenses.join(", ")}`] : []),
          ].join("; "),
        ],
        ["Blocked", blockedPurls.join(", ")],
        ["From", owner === group ? "this group" : path],
      ]}
    />
  );
}
