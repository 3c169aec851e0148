import { Link, useNavigate, useRouteContext } from "@tanstack/react-router";
import { CircleUserRound, Menu as MenuIcon, Moon, Search, Sun, SunMoon } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Button } from "../ui/button.tsx";
import { leave } from "../routing/leave.ts";
import { readTheme, setTheme, type Theme } from "./theme.ts";
import styles from "./shell.module.css";

// After the frame: it is half as large as all else in it.
const Menu = lazy(() => import("../ui/menu.tsx").then(({ Menu: component }) => ({ default: component })));

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const SAID: Record<Theme, string> = {
  system: "Colors: as the system has them",
  light: "Colors: light",
  dark: "Colors: dark",
};
const ICONS = { system: SunMoon, light: Sun, dark: Moon };

export interface HeaderProps {
  onSearch: () => void;
  isNavOpen: boolean;
  onNav: () => void;
}

/** The header of all pages: search, colors, account. */
export function Header({ onSearch, isNavOpen, onNav }: HeaderProps) {
  const { session } = useRouteContext({ from: "/shell" });
  const navigate = useNavigate();
  const [theme, show] = useState(readTheme);
  const Icon = ICONS[theme];
  const change = (): void => {
    setTheme(NEXT[theme]);
    show(NEXT[theme]);
  };
  const account = (isBusy: boolean) => (
    <Button look="quiet" aria-label="Account" isBusy={isBusy} icon={<CircleUserRound size={20} aria-hidden />} />
  );
  return (
    <header className={styles.header}>
      <Button
        look="quiet"
        className={styles.navButton ?? ""}
        aria-label="Navigation"
        aria-expanded={isNavOpen}
        onClick={onNav}
        icon={<MenuIcon size={18} aria-hidden />}
      />
      <Link to="/" className={styles.brand} aria-label="Moorage, start">
        <img src="/console/icon.svg" width={26} height={26} alt="" />
        <span className={styles.brandName}>Moorage</span>
      </Link>
      <Button className={styles.search ?? ""} onClick={onSearch} icon={<Search size={16} aria-hidden />}>
        Search or go to… <kbd>Ctrl K</kbd>
      </Button>
      <span className={styles.spring} />
      <Button
        look="quiet"
        aria-label={SAID[theme]}
        title={SAID[theme]}
        onClick={change}
        icon={<Icon size={18} aria-hidden />}
      />
      <Suspense fallback={account(true)}>
        <Menu
          label="Account"
          trigger={account(false)}
          head={
            <>
              Signed in as <strong>{session.name || session.email || session.identity}</strong>
              {session.email !== "" && session.email !== session.name && <div>{session.email}</div>}
            </>
          }
          items={[
            { label: "Profile", onSelect: () => void navigate({ to: "/profile" }) },
            { label: "Personal tokens", onSelect: () => void navigate({ to: "/profile/tokens" }) },
            { label: "Sign out", onSelect: () => void leave() },
          ]}
        />
      </Suspense>
    </header>
  );
}
