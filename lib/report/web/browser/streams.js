/**
 * Record streams to test the page with, made here so that the tests know every number in
 * them.
 */

/** A generator of numbers in [0, 1) that gives the same ones everywhere. @param {number} seed */
export function random(seed) {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s / 2 ** 32;
  };
}

/** Writes a stream, interning frames and stacks. */
export class Stream {
  /** @type {string[]} */
  lines = [];
  /** @type {Map<string, number>} */
  frames = new Map();
  /** @type {Map<string, number>} */
  stacks = new Map();

  /** @param {Record<string, unknown>} head */
  constructor(head = {}) {
    this.add('stream', { schema: 1, by: 'test 1', ...head });
  }

  /** @param {string} type @param {object} fields */
  add(type, fields) {
    this.lines.push(JSON.stringify({ type, ...fields }));
    return this;
  }

  /** @param {string} symbol @param {string} [module] @param {string} [kind] */
  frame(symbol, module, kind = 'user') {
    const key = JSON.stringify([symbol, module, kind]);
    const known = this.frames.get(key);
    if (known) return known;
    const id = this.frames.size + 1;
    this.frames.set(key, id);
    this.add('frame', { id, symbol: symbol || undefined, module, kind });
    return id;
  }

  /** Frames from the root to the leaf. @param {number[]} frames */
  stack(frames) {
    let parent = 0;
    for (const frame of frames) {
      const key = `${parent},${frame}`;
      let id = this.stacks.get(key);
      if (!id) {
        id = this.stacks.size + 1;
        this.stacks.set(key, id);
        this.add('stack', { id, frame, parent: parent || undefined });
      }
      parent = id;
    }
    return parent;
  }

  text() {
    return `${[...this.lines, '{"type":"end","by":"test 1","counts":{},"complete":true}'].join('\n')}\n`;
  }
}

/**
 * Two seconds of a program with a pool of uneven workers, one late thread and a reader, on
 * four cores, as vp-collect, vp-fold and vp-metrics would write them.
 */
export function threadsProgram() {
  const rnd = random(7);
  const s = new Stream({ profile: 'p1', clock: 'monotonic' });
  const app = '/opt/orders/bin/orderd';
  const store = '/opt/orders/lib/libstore.so.3';
  const json = '/usr/lib/libjson.so.1';
  const libc = '/usr/lib/x86_64-linux-gnu/libc.so.6';
  const cxx = '/usr/lib/x86_64-linux-gnu/libstdc++.so.6';
  const kernel = '[kernel.kallsyms]';
  const start = 5_000_000_000_000;
  s.add('meta', {
    target: {
      cmd: ['./orderd', '--config', 'prod config.toml', '--workers', '4'],
      pid: 4100,
      start_ns: start,
    },
    host: {
      name: 'bench-7',
      kernel: '6.1.0-31-amd64',
      ncpu: 4,
      cores: 4,
      cpu: { vendor: 'AuthenticAMD', name: 'AMD EPYC 9B14' },
    },
    perf_version: '6.1.187',
    events: ['cpu-clock'],
    callgraph: 'fp',
  });
  s.add('event', { id: 1, name: 'cpu-clock', unit: 'ns', kind: 'cpu' });
  s.add('event', { id: 2, name: 'page-faults', unit: 'count', kind: 'counter' });
  /** @type {[number, string, number, number, number][]} tid, name, from, to, busy */
  const threads = [
    [4100, 'orderd', 0, 2, 0.12],
    [4101, 'worker', 0.1, 1.9, 0.97],
    [4102, 'worker', 0.1, 1.6, 0.9],
    [4103, 'worker', 0.1, 1.2, 0.82],
    [4104, 'worker', 0.7, 1.9, 0.6],
    [4105, 'io-reactor', 0.05, 1.95, 0.35],
    [4106, 'logger', 0.05, 1.95, 0],
  ];
  for (const [tid, name] of threads) s.add('thread', { tid, pid: 4100, name });
  const f = (/** @type {string} */ n, /** @type {string} */ m) => s.frame(n, m);
  const base = [f('clone3', libc), f('start_thread', libc)];
  const run = f(
    'std::thread::_State_impl<std::thread::_Invoker<std::tuple<ThreadPool::run()::{lambda()#1}>>>::_M_run()',
    cxx,
  );
  const dispatch = f('Router::dispatch(Request const&, Response&)', app);
  const get = f('store::Table::get(store::Key const&, store::Snapshot) const', store);
  const seek = f('store::SkipList<store::Key, store::Row*, 12>::seek(store::Key const&) const', store);
  const descend = f('store::BTree::descend(store::Node const*, int)', store);
  const sys = [
    s.frame('entry_SYSCALL_64_after_hwframe', kernel, 'kernel'),
    s.frame('do_syscall_64', kernel, 'kernel'),
  ];
  const shapes = [
    [30, [...base, run, dispatch, f('OrderHandler::place(Request&, Response&)', app), get, seek]],
    [
      9,
      [
        ...base,
        run,
        dispatch,
        f('OrderHandler::place(Request&, Response&)', app),
        get,
        seek,
        f('__memcmp_evex_movbe', libc),
      ],
    ],
    [
      8,
      [
        ...base,
        run,
        dispatch,
        f('QuoteHandler::get(Request&, Response&)', app),
        get,
        descend,
        descend,
        descend,
      ],
    ],
    [5, [...base, run, dispatch, f('QuoteHandler::get(Request&, Response&)', app), get, descend]],
    [
      9,
      [
        ...base,
        run,
        dispatch,
        f('OrderHandler::place(Request&, Response&)', app),
        f('json::Parser::parse(std::string_view)', json),
        f('json::Parser::value()', json),
        f('json::Parser::string()', json),
      ],
    ],
    [
      4,
      [
        ...base,
        run,
        dispatch,
        f('OrderHandler::place(Request&, Response&)', app),
        f('json::Writer::string(std::string_view)', json),
      ],
    ],
    [
      6,
      [
        ...base,
        run,
        dispatch,
        f('store::Wal::append(store::Batch const&)', store),
        f('write', libc),
        ...sys,
        s.frame('vfs_write', kernel, 'kernel'),
        s.frame('ext4_file_write_iter', kernel, 'kernel'),
      ],
    ],
    [
      3,
      [
        ...base,
        run,
        dispatch,
        f('store::Wal::append(store::Batch const&)', store),
        f('write', libc),
        ...sys,
        s.frame('vfs_write', kernel, 'kernel'),
      ],
    ],
    [
      2,
      [
        ...base,
        run,
        dispatch,
        s.frame('', store, 'unknown'),
        f('LZ4_decompress_safe', '/usr/lib/liblz4.so.1'),
      ],
    ],
    [1, [s.frame('', undefined, 'unknown'), f('LZ4_compress_fast', '/usr/lib/liblz4.so.1')]],
  ];
  const reactor = [
    [
      5,
      [
        ...base,
        f('Reactor::loop()', app),
        f('epoll_wait', libc),
        ...sys,
        s.frame('do_epoll_wait', kernel, 'kernel'),
      ],
    ],
    [
      3,
      [
        ...base,
        f('Reactor::loop()', app),
        f('Connection::on_readable(net::Event const&)', app),
        f('tls::Record::decrypt(std::span<std::byte>)', '/usr/lib/libtls.so.3'),
      ],
    ],
    [
      2,
      [
        ...base,
        f('Reactor::loop()', app),
        f('Connection::on_readable(net::Event const&)', app),
        f('recv', libc),
        ...sys,
      ],
    ],
  ];
  const main = [[1, [f('_start', app), f('main', app), f('Server::poll()', app)]]];
  const pick = (/** @type {any[][]} */ list) => {
    let at = rnd() * list.reduce((a, x) => a + x[0], 0);
    for (const [w, frames] of list) {
      at -= w;
      if (at < 0) return s.stack(frames);
    }
    return s.stack(list[0][1]);
  };
  /** @type {[number, object][]} */
  const timed = [];
  const period = 1_001_001;
  for (const [tid, name, from, to, busy] of threads) {
    for (let t = from * 1e9; t < to * 1e9; t += period) {
      const load = busy * (name === 'worker' ? 0.75 + 0.25 * Math.sin(t / 2e8) : 1);
      if (rnd() >= load) continue;
      const time = start + Math.round(t + rnd() * 4e5);
      const stack = pick(name === 'worker' ? shapes : name === 'orderd' ? main : reactor);
      timed.push([time, { event: 1, tid, time_ns: time, weight: period, stack, cpu: tid % 4, pid: 4100 }]);
      if (rnd() < 0.02)
        timed.push([time, { event: 2, tid, time_ns: time, weight: 1, stack, cpu: tid % 4, pid: 4100 }]);
    }
  }
  timed.sort((a, b) => a[0] - b[0]);
  for (const [, sample] of timed) s.add('sample', sample);
  for (let t = 0; t <= 2000; t += 10) {
    const grow = 38e6 * (1 - Math.exp(-t / 500)) + (t > 900 && t < 1400 ? 14e6 : 0);
    s.add('rss', { pid: 4100, time_ns: start + t * 1e6, bytes: Math.round((12e6 + grow) / 4096) * 4096 });
  }
  s.add('meta', { target: { exit_code: 0, duration_ns: 2_012_000_000 } });
  s.add('counter', {
    event: 'task-clock',
    scope: 'all',
    value: 4_815_000_000,
    unit: 'ns',
    enabled_ns: 4_815_000_000,
    running_ns: 4_815_000_000,
    quality: 'count',
  });
  s.add('counter', { event: 'context-switches', scope: 'all', value: 3812, quality: 'count' });
  s.add('counter', { event: 'page-faults', scope: 'all', value: 11_240, quality: 'count' });
  s.add('counter', { event: 'cycles', scope: 'all', missing: 'no_pmu' });
  s.add('counter', { event: 'instructions', scope: 'all', missing: 'no_pmu' });
  const metric = (/** @type {object} */ m) => s.add('metric', { scope: 'all', ...m });
  metric({ name: 'elapsed', value: 2.012, unit: 's', quality: 'count' });
  metric({ name: 'cpu_time', value: 4.815, unit: 's', quality: 'count' });
  metric({
    name: 'cpu_utilization',
    value: 59.8,
    unit: '%',
    formula: 'cpu_time / (elapsed * ncpu)',
    inputs: { cpu_time: 4.815, elapsed: 2.012, ncpu: 4 },
    quality: 'derived',
  });
  metric({
    name: 'context_switches_per_second',
    value: 1894.6,
    unit: '/s',
    formula: 'context_switches / elapsed',
    inputs: { context_switches: 3812, elapsed: 2.012 },
    quality: 'derived',
  });
  metric({
    name: 'page_faults_per_second',
    value: 5586.5,
    unit: '/s',
    formula: 'page_faults / elapsed',
    inputs: { page_faults: 11240, elapsed: 2.012 },
    quality: 'derived',
  });
  metric({ name: 'peak_rss', value: 63_217_664, unit: 'bytes', quality: 'count' });
  metric({ name: 'ipc', formula: 'instructions / cycles', missing: 'no_pmu' });
  metric({ name: 'branch_misprediction_rate', missing: 'no_pmu' });
  metric({ name: 'cpu_time', scope: 'tid:4101', value: 1.502, unit: 's', quality: 'count' });
  s.add('notice', {
    severity: 'warning',
    cause: 'no_pmu',
    text: 'this machine has no hardware counters: samples are of cpu-clock',
    fix: 'vp-probe --check pmu',
  });
  for (const [tid, ms] of [
    [4100, 262],
    [4101, 1502],
    [4102, 1097],
    [4103, 680],
    [4104, 573],
    [4105, 701],
  ]) {
    s.add('counter', {
      event: 'task-clock',
      scope: `tid:${tid}`,
      value: ms * 1e6,
      unit: 'ns',
      quality: 'count',
    });
  }
  s.add('notice', { severity: 'info', text: 'kernel symbols were read from /proc/kallsyms' });
  return s.text();
}

/**
 * A long run: what the page must stay quick with.
 * @param {number} samples @param {number} stacks @param {number} threads
 */
export function longRun(samples, stacks, threads) {
  const rnd = random(3);
  const s = new Stream({ profile: 'long', clock: 'monotonic' });
  s.add('meta', { host: { ncpu: threads } });
  s.add('event', { id: 1, name: 'cycles', unit: 'cycles', kind: 'cpu' });
  for (let t = 0; t < threads; t++) s.add('thread', { tid: 1000 + t, pid: 1000, name: `worker-${t % 8}` });
  const modules = [
    '/usr/bin/app',
    '/usr/lib/libc.so.6',
    '/usr/lib/libstore.so',
    '/usr/lib/libjson.so',
    '[kernel.kallsyms]',
  ];
  const frames = Array.from({ length: 8000 }, (_, i) => {
    const m = modules[i % modules.length];
    return s.frame(`ns${i % 37}::Type<${i % 11}>::method_${i}(int)`, m, m[0] === '[' ? 'kernel' : 'user');
  });
  /** @type {number[][]} */
  const paths = [];
  const leaves = [];
  while (leaves.length < stacks) {
    const other = rnd() > 0.05 && paths.length ? paths[Math.floor(rnd() * paths.length)] : [];
    const path = other.slice(0, Math.max(1, other.length - Math.floor(rnd() * 5)));
    const want = Math.min(60, Math.max(path.length + 1 + Math.floor(rnd() * 4), 4));
    while (path.length < want) path.push(frames[Math.floor(rnd() * frames.length)]);
    paths.push(path);
    leaves.push(s.stack(path));
  }
  let t = 1e12;
  for (let i = 0; i < samples; i++) {
    t += 1 + Math.floor(rnd() * 31_000);
    const leaf = leaves[Math.floor(stacks * rnd() * rnd() * rnd())];
    const weight = 4_000_000 + Math.floor(rnd() * 200_000);
    s.lines.push(
      `{"type":"sample","event":1,"tid":${1000 + (i % threads)},"time_ns":${t},"weight":${weight},"stack":${leaf}}`,
    );
  }
  s.add('counter', {
    event: 'task-clock',
    scope: 'all',
    value: ((t - 1e12) * threads) / 2,
    unit: 'ns',
    quality: 'count',
  });
  return s.text();
}
