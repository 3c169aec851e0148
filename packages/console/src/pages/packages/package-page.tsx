import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { groupPath, groupsQuery } from "../../lib/groups.ts";
import { parentUid } from "../../lib/uid.ts";
import { Columns } from "../../ui/columns.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { tabCount, Tabs } from "../../ui/tabs.tsx";
import { Files } from "./files.tsx";
import { FindingsCount, PackageFindings } from "./findings.tsx";
import { Install } from "./install.tsx";
import { PackageHead } from "./package-head.tsx";
import { packageQuery, versionsQuery } from "./queries.ts";
import { PackageReadme } from "./readme.tsx";
import { PackageSide } from "./side.tsx";
import { Uses, UsesCount } from "./uses.tsx";
import { Versions } from "./versions.tsx";

const route = getRouteApi("/shell/package");

/** A package: how it is installed, its versions, which images it is in, what is wrong with it. */
export function PackagePage() {
  const { uid } = route.useSearch();
  if (uid !== undefined) return <One uid={uid} />;
  return (
    <Page title="Package">
      <Empty title="Which package?">
        The page's address must name it. <Link to="/packages">View all</Link>.
      </Empty>
    </Page>
  );
}

function One({ uid }: { uid: string }) {
  const { part, version: wanted } = route.useSearch();
  const { data: package_ } = useSuspenseQuery(packageQuery(uid));
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const versions = useSuspenseInfiniteQuery(versionsQuery(uid));
  const group = groupPath(parentUid(uid), groups);
  const version = wanted ?? package_.latestVersion;
  return (
    <Page title={package_.name} head={<PackageHead package_={package_} group={group} version={version} />}>
      <Tabs label="Parts of the package">
        <Part uid={uid} isHere={part === undefined}>
          Versions {tabCount(package_.versionCount)}
        </Part>
        <Part uid={uid} part="readme" isHere={part === "readme"}>
          Readme
        </Part>
        <Part uid={uid} part="uses" isHere={part === "uses"}>
          Used in <UsesCount uid={uid} />
        </Part>
        <Part uid={uid} part="findings" isHere={part === "findings"}>
          Findings <FindingsCount uid={uid} />
        </Part>
      </Tabs>
      {part === "readme" ? (
        <PackageReadme uid={uid} ecosystem={package_.ecosystem} />
      ) : part === "uses" ? (
        <Uses uid={uid} />
      ) : part === "findings" ? (
        <PackageFindings uid={uid} />
      ) : (
        <Columns side={<PackageSide package_={package_} group={group} version={version} />}>
          {version !== "" && <Install package_={package_} group={group} version={version} />}
          <Versions package_={package_} list={versions} selected={version} />
          {version !== "" && <Files package_={package_} group={group} version={version} />}
        </Columns>
      )}
    </Page>
  );
}

interface PartProps {
  uid: string;
  part?: string;
  isHere: boolean;
  children: ReactNode;
}

function Part({ uid, part, isHere, children }: PartProps) {
  return (
    <Link
      to="/package"
      search={{ uid, ...(part !== undefined && { part }) }}
      activeOptions={{ exact: true }}
      activeProps={{ "aria-current": undefined, "data-status": undefined } as object}
      aria-current={isHere ? "page" : undefined}
    >
      {children}
    </Link>
  );
}
