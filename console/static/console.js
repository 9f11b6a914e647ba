// What pages do beside htmx and Alpine: dialogs, keys, copying, times on hover, polls that rest while nobody looks. Pages work
// without it for reading. It makes no HTML of anything that it is given.
'use strict';
(() => {
  const dialog = () => document.getElementById('dialog');
  const keys = () => document.getElementById('keys');
  const typing = (el) => el && (el.matches('input, textarea, select') || el.isContentEditable);

  document.documentElement.classList.add('js');

  // Dialogs: what the server sends for one is shown in it; Esc and a click beside it close it.
  document.addEventListener('htmx:afterSwap', (e) => {
    if (e.detail.target.id !== 'dialog' || dialog().open) return;
    dialog().showModal();
    const first = dialog().querySelector('[autofocus], input:not([type=hidden]), select, textarea, button');
    if (first) first.focus();
  });
  document.addEventListener('click', (e) => {
    if (e.target.matches('dialog')) e.target.close();
    const close = e.target.closest('[data-close]');
    if (close && close.closest('dialog')) { e.preventDefault(); close.closest('dialog').close(); }
    if (e.target.closest('[data-help]')) keys().showModal();
  });
  document.addEventListener('close', (e) => { if (e.target.id === 'dialog') e.target.replaceChildren(); }, true);

  // A problem is shown where the person looks: in the dialog when one is open.
  document.addEventListener('htmx:beforeSwap', (e) => {
    const inside = document.getElementById('dialog-problem');
    if (e.detail.xhr.getResponseHeader('HX-Retarget') === '#problem' && dialog().open && inside) {
      e.detail.target = inside;
    }
  });
  const unreachable = () => {
    const box = document.getElementById('problem');
    const note = document.createElement('div');
    note.className = 'note bad';
    note.textContent = 'The console does not answer. It is asked again.';
    box.replaceChildren(note);
  };
  document.addEventListener('htmx:sendError', unreachable);
  document.addEventListener('htmx:afterRequest', (e) => {
    if (e.detail.successful && e.detail.elt.matches('[data-live]')) document.getElementById('problem').replaceChildren();
  });

  // Polls rest while the page is hidden, while a person has paused them, and while text in them is selected.
  document.addEventListener('htmx:beforeRequest', (e) => {
    const el = e.detail.elt;
    if (!el.matches('[data-live]')) return;
    const chosen = document.getSelection();
    const reading = chosen && !chosen.isCollapsed && el.contains(chosen.anchorNode);
    if (document.hidden || reading || el.dataset.paused === 'true') e.preventDefault();
  });

  // A field with the name to type opens the button of its form.
  document.addEventListener('input', (e) => {
    const form = e.target.closest('form');
    if (!form || !e.target.matches('[data-typed]')) return;
    form.querySelector('[data-when-typed]').disabled = e.target.value !== e.target.dataset.typed;
  });
  document.addEventListener('htmx:load', (e) => {
    e.target.querySelectorAll('[data-typed]').forEach((el) => {
      el.closest('form').querySelector('[data-when-typed]').disabled = el.value !== el.dataset.typed;
    });
  });

  // Copying.
  document.addEventListener('click', async (e) => {
    const button = e.target.closest('[data-copy], [data-copy-from]');
    if (!button) return;
    e.preventDefault();
    const from = button.dataset.copyFrom && document.getElementById(button.dataset.copyFrom);
    const was = button.textContent;
    try {
      await navigator.clipboard.writeText(from ? from.textContent : button.dataset.copy);
      button.textContent = '✓';
    } catch {
      button.textContent = '✗';
    }
    setTimeout(() => { button.textContent = was; }, 900);
  });

  // The zone of this browser, for the switch.
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = document.querySelector('[data-local-zone]');
  if (zone && here) zone.value = here;

  // How long ago, on hover.
  const steps = [[1000, 'second'], [60, 'minute'], [60, 'hour'], [24, 'day'], [Infinity, '']];
  const ago = (ms) => {
    let n = Math.abs(ms), unit = 'second';
    n /= steps[0][0];
    for (let i = 1; i < steps.length && n >= 2 * steps[i][0]; i++) { n /= steps[i][0]; unit = steps[i][1]; }
    n = Math.floor(n);
    const words = n + ' ' + unit + (n === 1 ? '' : 's');
    return ms < 0 ? 'in ' + words : words + ' ago';
  };
  document.addEventListener('mouseover', (e) => {
    const t = e.target.closest && e.target.closest('time[data-time]');
    if (t) t.title = ago(Date.now() - Date.parse(t.dateTime)) + '\n' + t.dateTime;
  });

  // A message that is open in the list is closed by the same click; the row shows which.
  document.addEventListener('click', (e) => {
    const link = e.target.closest('[data-expand]');
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
    const next = link.closest('tr').nextElementSibling;
    if (next && next.classList.contains('opened')) { e.preventDefault(); e.stopPropagation(); next.remove(); }
  }, true);

  // One that is opened is as wide as its list, which may have a person's own columns.
  document.addEventListener('htmx:afterSwap', () => {
    for (const cell of document.querySelectorAll('tr.opened > td')) cell.colSpan = cell.closest('table').tHead.rows[0].cells.length;
  });

  // A search that takes long can be stopped: the page stays as it is, and the console gives the search up.
  const stop = document.querySelector('[data-stop]');
  const longer = () => { if (stop) stop.hidden = false; };
  document.addEventListener('submit', (e) => { if (e.target.matches('.finder')) longer(); });
  document.addEventListener('click', (e) => {
    if (e.target.closest('[data-long]')) longer();
    if (e.target.closest('[data-stop]')) { window.stop(); stop.hidden = true; }
  });

  // Keys.
  let going = 0;
  const rows = () => [...document.querySelectorAll('main tr[data-href], main [data-row]')].filter((el) => el.offsetParent !== null);
  const step = (by) => {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement.closest('tr[data-href], [data-row]'));
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
    next.focus();
    next.scrollIntoView({ block: 'nearest' });
  };
  const open = (row) => {
    const expand = row.querySelector('[data-expand]');
    if (expand) expand.click();
    else if (row.dataset.href) location.assign(row.dataset.href);
    else { const link = row.querySelector('a[href], summary, button'); if (link) link.click(); }
  };
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const el = document.activeElement;
    if (typing(el)) {
      if (e.key === 'Escape' && !el.closest('dialog')) { e.preventDefault(); el.blur(); } // and keep what is searched
      return;
    }
    if (document.querySelector('dialog[open]')) return;
    if (going && Date.now() - going < 1500) {
      going = 0;
      const link = document.querySelector('.side a[data-go="' + CSS.escape(e.key) + '"]');
      if (link) { e.preventDefault(); location.assign(link.href); }
      return;
    }
    switch (e.key) {
      case '/': { const s = document.querySelector('[data-search]'); if (s) { e.preventDefault(); s.focus(); s.select(); } break; }
      case 'g': going = Date.now(); break;
      case 'j': step(1); break;
      case 'k': step(-1); break;
      case '?': keys().showModal(); break;
      case 'Enter': if (el.matches('tr[data-href], [data-row]')) { e.preventDefault(); open(el); } break;
    }
  });
  document.addEventListener('click', (e) => {
    const row = e.target.closest('tr[data-href]');
    if (!row || e.target.closest('a, button, input, select, summary, label') || !document.getSelection().isCollapsed) return;
    open(row);
  });

  // Alpine's components; expressions in pages are names of these only.
  document.addEventListener('alpine:init', () => {
    window.Alpine.data('toast', () => ({ open: true, close() { this.open = false; } }));
    window.Alpine.data('pause', () => ({
      paused: false,
      toggle() {
        this.paused = !this.paused;
        document.querySelectorAll('[data-live]').forEach((el) => { el.dataset.paused = String(this.paused); });
      },
      get label() { return this.paused ? 'Resume' : 'Pause'; },
    }));
  });
})();
