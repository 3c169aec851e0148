import { Link, Outlet, useRouter, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { PageSkeleton } from "../ui/skeleton.tsx";
import { PlaceTabs } from "../ui/page.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Bar } from "./bar.tsx";
import { Dock } from "./dock.tsx";
import { followLinks } from "./follow-links.ts";
import { useKeys } from "./keys.ts";
import { loadPages } from "./load-pages.ts";
import { whereIs } from "./nav.ts";
import { Offline } from "./offline.tsx";
import { ofGroup, Side } from "./side.tsx";
import { readStored, store } from "../lib/storage.ts";
import styles from "./shell.module.css";

const Palette = lazy(() => import("./palette.tsx").then(({ Palette: component }) => ({ default: component })));

const NARROW = "narrow";

/** The frame around all pages: navigation, breadcrumbs, palette. */
export function Shell() {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isNavOpen, setNavOpen] = useState(false);
  const [isNarrow, setNarrow] = useState(() => readStored(NARROW) === "1");
  const { isLoading, pathname } = useRouterState({
    select: ({ isLoading: loading, location }) => ({ isLoading: loading, pathname: location.pathname }),
    structuralSharing: true,
  });
  useEffect(() => setNavOpen(false), [pathname]);
  const router = useRouter();
  useEffect(() => loadPages(router), [router]);
  useEffect(() => followLinks(router), [router]);
  const fold = (): void => {
    store(NARROW, isNarrow ? undefined : "1");
    setNarrow(!isNarrow);
  };
  useKeys({ onSearch: () => setPaletteOpen(true), onFold: fold });
  const tabs = useMemo(() => tabsOf(pathname), [pathname]);
  return (
    <div className={`${styles.shell} ${isNarrow ? styles.narrow : ""}`}>
      <a className={styles.skip} href="#main">
        Skip to the content
      </a>
      <Side
        pathname={pathname}
        isNarrow={isNarrow && !isNavOpen}
        onNarrow={fold}
        isOpen={isNavOpen}
        onClose={() => setNavOpen(false)}
        onSearch={() => {
          setNavOpen(false);
          setPaletteOpen(true);
        }}
      />
      <div className={styles.panel}>
        <Bar
          pathname={pathname}
          isLoading={isLoading}
          isNavOpen={isNavOpen}
          onNav={() => setNavOpen(!isNavOpen)}
          onSearch={() => setPaletteOpen(true)}
        />
        <main id="main" className={styles.main} tabIndex={-1}>
          <Offline />
          <PlaceTabs value={tabs}>
            <Suspense fallback={<PageSkeleton />}>
              <Outlet />
            </Suspense>
          </PlaceTabs>
        </main>
      </div>
      <Dock pathname={pathname} isOpen={isNavOpen} onMore={() => setNavOpen(!isNavOpen)} />
      {isPaletteOpen && (
        <Suspense>
          <Palette onClose={() => setPaletteOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** The tabs of the place that the page is a tab of. */
function tabsOf(pathname: string) {
  const { item, tab } = whereIs(pathname) ?? {};
  if (item?.tabs === undefined || tab === undefined) return undefined;
  return (
    <Tabs label={item.label}>
      {item.tabs.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          search={ofGroup}
          activeOptions={{ exact: true, includeSearch: false }}
          aria-current={to === pathname ? "page" : undefined}
        >
          {label}
        </Link>
      ))}
    </Tabs>
  );
}
