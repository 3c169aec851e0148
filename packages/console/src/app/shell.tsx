import { Outlet, useRouter, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { followLinks } from "./follow-links.ts";
import { Header } from "./header.tsx";
import { loadPages } from "./load-pages.ts";
import { Offline } from "./offline.tsx";
import { Side } from "./side.tsx";
import styles from "./shell.module.css";

const Palette = lazy(() => import("./palette.tsx").then(({ Palette: component }) => ({ default: component })));

/** The frame around all pages: header, navigation, palette. */
export function Shell() {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isNavOpen, setNavOpen] = useState(false);
  const { isLoading, pathname } = useRouterState({
    select: ({ isLoading: loading, location }) => ({ isLoading: loading, pathname: location.pathname }),
    structuralSharing: true,
  });
  useEffect(() => setNavOpen(false), [pathname]);
  const router = useRouter();
  useEffect(() => loadPages(router), [router]);
  useEffect(() => followLinks(router), [router]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setPaletteOpen(true);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the content
      </a>
      <Header onSearch={() => setPaletteOpen(true)} isNavOpen={isNavOpen} onNav={() => setNavOpen(!isNavOpen)} />
      <div className={styles.progress} data-active={isLoading || undefined} role="status">
        <span className="visually-hidden">{isLoading ? "Loading" : ""}</span>
      </div>
      <Side isOpen={isNavOpen} />
      <main id="main" className={styles.main} tabIndex={-1}>
        <Offline />
        <Outlet />
      </main>
      {isPaletteOpen && (
        <Suspense>
          <Palette onClose={() => setPaletteOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}
