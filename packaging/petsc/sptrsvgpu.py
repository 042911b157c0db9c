"""sptrsvgpu as a package of PETSc's configure, PETSc 3.24 or later.

Copy this file to config/BuildSystem/config/packages/ in PETSc's source and run
  ./configure --download-sptrsvgpu=<archive, URL or folder of sptrsvgpu>
"""
import os
import config.package

class Configure(config.package.Package):
  def __init__(self, framework):
    config.package.Package.__init__(self, framework)
    self.version                = '0.1.0'
    self.download               = ['sptrsvgpu-'+self.version+'.tar.gz'] # in PETSC_DIR or --with-packages-download-dir
    self.includes               = ['sptrsvgpu.h']
    self.precisions             = ['single', 'double']
    self.skippackagewithoptions = 1
    self.linkedbypetsc          = 0
    self.builtafterpetsc        = 1

  def setupDependencies(self, framework):
    config.package.Package.setupDependencies(self, framework)
    self.sharedLibraries = framework.require('PETSc.options.sharedLibraries', self)
    self.cuda            = framework.require('config.packages.CUDA', self)
    self.odeps           = [self.mpi, self.cuda]

  def cudaArch(self):
    '''The compute capabilities that PETSc is configured for, as an argument of make'''
    if not self.cuda.found or not hasattr(self.cuda, 'cudaArch'): return ''
    if self.cuda.cudaArch == 'native': return ' CUDA_ARCH=native'
    if not self.cuda.cudaArchIsVersionList(): return ' CUDA_ARCH=fat' # all, all-major
    arch = [sm for sm in self.cuda.cudaArchList() if int(sm) >= 80]
    if not arch:
      raise RuntimeError('sptrsvgpu needs compute capability 8.0 or later; --with-cuda-arch is '+self.cuda.cudaArch)
    return ' CUDA_ARCH="'+' '.join(arch)+'"'

  def Install(self):
    if not self.checkSharedLibrariesEnabled():
      raise RuntimeError('sptrsvgpu is loaded by PETSc and needs shared libraries: remove --with-shared-libraries=0')
    if self.argDB['prefix'] and not 'package-prefix-hash' in self.argDB:
      prefix = os.path.abspath(os.path.expanduser(self.argDB['prefix']))
      petsc  = 'PETSC_DIR='+prefix+' PETSC_ARCH=""'
    else:
      prefix = os.path.join(self.petscdir.dir, self.arch)
      petsc  = 'PETSC_DIR=${PETSC_DIR} PETSC_ARCH=${PETSC_ARCH}'
    make         = '${OMAKE} '+petsc+self.cudaArch()
    self.include = [os.path.join(prefix, 'include')]
    self.lib     = [os.path.join(prefix, 'lib', 'libsptrsvgpu.so')]
    self.addDefine('HAVE_SPTRSVGPU', 1)
    self.addPost(self.packageDir, [make, make+' install PREFIX='+prefix])
    self.addMakeCheck(self.packageDir, make+' check')
    return self.installDir
